export type { ApprovalDecision, ApprovalRequest } from './approval.js';
export type { AuditProblem, AuditProblemKind, AuditReport } from './audit/audit-report.js';
export { type JsonlAuditOptions, JsonlAuditSink } from './audit/jsonl-audit-sink.js';
export { MemoryAuditSink } from './audit/memory-audit-sink.js';
export { type VerifyAuditOptions, verifyAuditLog } from './audit/verify-audit-log.js';
export type { CapabilityBackends, PersonalityFsReach } from './backends.js';
export {
  needsBackends,
  type ResolveContext,
  resolveCapabilities,
  type ScopedAccessors,
} from './capability-resolver.js';
export { validateDeclaration, validateRegistration } from './capability-validator.js';
export type { ResolvedGrant } from './grant.js';
export { createInMemoryKvStore } from './in-memory-kv.js';
export { createInMemoryMemory } from './in-memory-memory.js';
export { createInMemorySessionStore } from './in-memory-sessions.js';
export { markUntrusted, type UntrustedOrigin } from './results/mark-untrusted.js';
export { DefaultToolResultReducerRegistry } from './tool-reducer-registry.js';
export { DefaultToolRegistry, type ToolRegistryOptions } from './tool-registry.js';
export type { TurnGate, TurnHost } from './turn-host.js';
