export type {
  AuditApproval,
  AuditCall,
  AuditEvent,
  AuditImage,
  AuditSink,
  AuditWhy,
} from './audit.js';
export type {
  DelegatedTask,
  DelegationCaller,
  DelegationInfo,
  DelegationProvider,
  DelegationState,
  QuarantinedRead,
  QuarantinedValue,
  ScopedDelegation,
} from './delegation.js';
export { errorBehind, withErrorBehind } from './error-behind.js';
export type { DenialCode, ErrorCode, FailureCause, ReachKind } from './errors.js';
export {
  BoundaryError,
  CapabilityError,
  ERROR_CODES,
  EthosError,
  errorCodeOf,
} from './errors.js';
export type {
  ImageFacts,
  ImageFile,
  ImageMediaType,
  ImageScaler,
  ImageTarget,
} from './images.js';
export type {
  MemoryChange,
  MemoryDocument,
  MemoryMatch,
  MemoryProvider,
  MemoryScope,
  MemorySection,
  MemoryVersion,
  ScopedMemory,
} from './memory.js';
export type {
  ApprovalPolicy,
  ArgumentPolicy,
  GrantScope,
  NetworkPolicy,
  PersonalityConfig,
  ProcessLimits,
  ProcessPolicy,
  QuotaLimits,
  QuotaName,
  QuotaPolicy,
  SecretSources,
  UntrustedDecision,
  UntrustedPolicy,
} from './personality.js';
export type {
  PreparedCommand,
  ProcessConnection,
  ScopedServices,
  ServiceDeclaration,
  ServiceDenial,
  ServiceHost,
  ServiceOwner,
  ServiceProcesses,
  ServiceProxy,
  ServiceScope,
} from './services.js';
export type {
  MessageRole,
  NewSessionMessage,
  ScopedSessions,
  SessionAppendOptions,
  SessionClaim,
  SessionInfo,
  SessionListOptions,
  SessionMatch,
  SessionMessage,
  SessionOwner,
  SessionRef,
  SessionSearchOptions,
  SessionStore,
} from './sessions.js';
export type { ContainedReach, Storage, StorageChange, StorageEntry } from './storage.js';
export type {
  KeyValueStoreFactory,
  OpenedStore,
  SecretStore,
  StoreOpener,
} from './stores.js';
export type {
  AnyTool,
  ApprovalFacts,
  ScopedCalls,
  Tool,
  ToolAccessorName,
  ToolContext,
  ToolEffect,
  ToolErrorCode,
  ToolFilterOpts,
  ToolInput,
  ToolInputResult,
  ToolProgressEvent,
  ToolResult,
  ToolSettings,
  ToolSettingsIssue,
} from './tool.js';
export { TOOL_ERROR_CODES } from './tool.js';
export type {
  AttachmentInfo,
  AttachmentStore,
  BackgroundOutput,
  BackgroundProcess,
  BackgroundProcesses,
  BoundSecret,
  CapabilityName,
  CapabilityValidationError,
  KeyValueStore,
  ProcessChannel,
  ProcessResult,
  ScopedAttachments,
  ScopedFetch,
  ScopedFs,
  ScopedProcess,
  ScopedSecretsResolver,
  SecretDeclaration,
  SecretRef,
  SpawnOpts,
  StorageScope,
  ToolCapabilities,
  TurnAttachment,
} from './tool-capabilities.js';
export { CAPABILITIES, STORAGE_SCOPES } from './tool-capabilities.js';
export { misnamedToolProperties } from './tool-property-names.js';
export type {
  ToolReducerContext,
  ToolResultReducer,
  ToolResultReducerRegistry,
} from './tool-reducer.js';
export type {
  ToolBatchContext,
  ToolCall,
  ToolCallResult,
  ToolDefinition,
  ToolRegistry,
} from './tool-registry.js';
export type {
  DueTurns,
  NewSchedule,
  NewTurn,
  StoredSchedule,
  StoredTurn,
  StoredTurnEvent,
  TurnOutcome,
  TurnRate,
  TurnState,
  TurnStore,
} from './turns.js';
