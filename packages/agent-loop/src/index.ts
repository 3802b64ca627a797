export type { CallDecision, PendingApproval } from '@ethosagent/core';
export { AgentLoop, type TurnDone } from './agent-loop.js';
export type {
  AgentBatchOptions,
  AgentEvent,
  AgentIdentity,
  AgentLimits,
  AgentLoopOptions,
  AgentRetries,
  AgentTools,
  AgentUsage,
  ContextOptions,
  DelegationLimits,
  ModelSettings,
  ResumeInput,
  SessionState,
  TokenPrices,
  ToolSearchOptions,
  TurnEnd,
  TurnInput,
} from './api.js';
export { type RegistryToolsOptions, registryTools } from './registry-tools.js';
