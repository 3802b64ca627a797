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
  TurnClaim,
  TurnEnd,
  TurnInput,
} from './api.js';
export type { Engine, EngineTurn, EngineWork, EngineWorker } from './engine/engine.js';
export {
  createFleet,
  type EnqueueInput,
  Fleet,
  type FleetHealth,
  type FleetOptions,
  type FlowInput,
} from './engine/fleet.js';
export { createLocalEngine } from './engine/local-engine.js';
export type { StoredAgentEvent, WatchedEvent, WatchOptions } from './engine/watch.js';
export {
  TurnWorker,
  type WorkerAgent,
  type WorkerMetrics,
  type WorkerOptions,
} from './engine/worker.js';
export { HeldSession } from './held-session.js';
export { type RegistryToolsOptions, registryTools } from './registry-tools.js';
