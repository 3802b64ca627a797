export type { AuditProblem, AuditProblemKind, AuditReport } from './audit-report.js';
export { type JsonlAuditOptions, JsonlAuditSink } from './jsonl-audit-sink.js';
export { isKeylessLog } from './keyless-log.js';
export { MemoryAuditSink } from './memory-audit-sink.js';
export { teeAuditSink } from './tee-audit-sink.js';
export { type VerifyAuditOptions, verifyAuditLog } from './verify-audit-log.js';
