export {
  type AuditProblem,
  type AuditProblemKind,
  type AuditReport,
  type JsonlAuditOptions,
  JsonlAuditSink,
  MemoryAuditSink,
  type VerifyAuditOptions,
  verifyAuditLog,
} from '@ethosagent/audit';
export { supervisorProblem } from '@ethosagent/process';
export type { ApprovalDecision, ApprovalRequest } from './approval.js';
export type { CapabilityBackends, PersonalityFsReach, PersonalityPolicy } from './backends.js';
export { type CallError, type CallHooks, tellError } from './call-hooks.js';
export type { ResolveContext, ScopedAccessors } from './capabilities/capability-call.js';
export type { ResolvedGrant } from './capabilities/resolved-grant.js';
export { needsBackends, resolveCapabilities } from './capability-resolver.js';
export { validateDeclaration, validateRegistration } from './capability-validator.js';
export { createInMemoryKvStore } from './in-memory-kv.js';
export { createInMemoryMemory } from './in-memory-memory.js';
export { createInMemorySessionStore } from './in-memory-sessions.js';
export { markUntrusted, type UntrustedOrigin } from './results/mark-untrusted.js';
export { mayBeForeign } from './results/untrusted/may-be-foreign.js';
export type { CheckSchema, SchemaCheck } from './schema-gate.js';
export { DefaultToolResultReducerRegistry } from './tool-reducer-registry.js';
export { DefaultToolRegistry, type ToolRegistryOptions } from './tool-registry.js';
export type { TurnGate, TurnHost } from './turn-host.js';
