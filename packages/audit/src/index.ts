export {
  AuditChain,
  type AuditChainLine,
  type VerifyAuditChainOptions,
  verifyAuditChain,
} from './audit-chain.js';
export { AuditLogReader, type LoggedEvent } from './audit-log-reader.js';
export type { AuditProblem, AuditProblemKind, AuditReport } from './audit-report.js';
export { type JsonlAuditOptions, JsonlAuditSink } from './jsonl-audit-sink.js';
export { isKeylessLog } from './keyless-log.js';
export { MemoryAuditSink } from './memory-audit-sink.js';
export { readAuditLogs } from './read-audit-logs.js';
export { teeAuditSink } from './tee-audit-sink.js';
export { type VerifyAuditOptions, verifyAuditLog } from './verify-audit-log.js';
