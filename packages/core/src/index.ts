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
export { assertForeignTool } from './assert-foreign-tool.js';
export type {
  CapabilityBackends,
  PersonalityFsReach,
  PersonalityPolicy,
  PolicyPlaces,
} from './backends.js';
export type { ToolRegistryOptions } from './batch/batch.js';
export { type CallRecord, recordCall } from './batch/record-call.js';
export {
  type BeforeCall,
  type BeforeCallHook,
  type CallBegin,
  type CallEnd,
  type CallError,
  type CallHooks,
  tellError,
} from './call-hooks.js';
export type { CallNarrowing } from './call-narrowing.js';
export type { ResolveContext, ScopedAccessors } from './capabilities/capability-call.js';
export { compareGrants } from './capabilities/compare/compare-grants.js';
export type { GainedAccess, GrantChange } from './capabilities/compare/grant-change.js';
export type { ResolvedGrant } from './capabilities/resolved-grant.js';
export { needsBackends, resolveCapabilities } from './capability-resolver.js';
export {
  assertDeclarations,
  validateDeclaration,
  validateRegistration,
} from './capability-validator.js';
export { createInMemoryKvStore } from './in-memory-kv.js';
export { createInMemoryMemory } from './in-memory-memory.js';
export { createInMemorySessionStore } from './in-memory-sessions.js';
export { type ResultImage, withoutImageBytes } from './results/given-images.js';
export {
  IMAGE_LIMITS,
  type ImageLimits,
  type ProviderImageLimits,
  resolveImageLimits,
} from './results/image-limits.js';
export { markUntrusted, type UntrustedOrigin } from './results/mark-untrusted.js';
export { type ShowImagesOptions, type ShownImages, showImages } from './results/show-images.js';
export { mayBeForeign } from './results/untrusted/may-be-foreign.js';
export type { CheckSchema, SchemaCheck } from './schema-gate.js';
export type { ApprovalBook, KnownApproval } from './session/approval-book.js';
export { assertToolSession } from './session/assert-tool-session.js';
export { assertBatchValues, assertIdentity } from './session/batch-options.js';
export { CallGuard, type CallGuardParts, type GuardedResult } from './session/call-guard.js';
export { mayGrant } from './session/grants.js';
export { type AskHost, answerOfHost } from './session/host-answer.js';
export type { InnerAnswer, InnerCall, InnerCallsParts } from './session/inner-calls.js';
export { InnerCalls } from './session/inner-calls.js';
export {
  isLedgerSession,
  isTaskJournal,
  sessionOfLedger,
  sessionPart,
  taskJournalId,
} from './session/ledger-ids.js';
export { withEdit } from './session/mark-result.js';
export { pendingCalls } from './session/pending-calls.js';
export { withProblems } from './session/pending-problems.js';
export {
  askQuarantined,
  NO_ANSWER,
  type QuarantinedText,
} from './session/quarantine.js';
export { toolDigest } from './session/question.js';
export type { RunCalls } from './session/session-answers.js';
export type {
  CallCheck,
  CallDecision,
  PendingApproval,
  QuarantineAnswer,
  QuarantineModel,
  QuarantinePrompt,
  QuarantineRequest,
  SessionBatchOptions,
  SessionGrant,
  SessionIdentity,
  SessionLimits,
  SessionResult,
  ToolSession,
  UnfinishedCall,
  UntrustedSource,
} from './session/session-api.js';
export {
  type AskingBatch,
  type QuestionRef,
  SessionApprovals,
  type SessionApprovalsParts,
} from './session/session-approvals.js';
export { SessionGrants, type SessionGrantsParts } from './session/session-grants.js';
export { SessionLedger } from './session/session-ledger.js';
export { SessionLedgers } from './session/session-ledgers.js';
export type { ToolSessionParts } from './session/session-parts.js';
export { sessionRef } from './session/session-ref.js';
export type { SessionTools, SessionToolsBatch } from './session/session-tools.js';
export { SourceList, sourceOfCall, sourceOfContent } from './session/source-list.js';
export { type FailedCall, ToolCallError } from './session/tool-call-error.js';
export { DefaultToolSession } from './session/tool-session.js';
export { UntrustedFiles } from './session/untrusted-files.js';
export { sourceOf, untrustedGate } from './session/untrusted-gate.js';
export { DefaultToolResultReducerRegistry } from './tool-reducer-registry.js';
export { DefaultToolRegistry } from './tool-registry.js';
export type {
  CalledResult,
  CallFacts,
  CallingCall,
  CallOfTool,
  CallReads,
  DelegatingCall,
  SourceWatch,
  TurnGate,
  TurnHost,
} from './turn-host.js';
