import type { OptionNames } from '@ethosagent/policy';
import { type BackgroundProcessTable, DEFAULT_MAX_BACKGROUND_PROCESSES } from '@ethosagent/process';
import type {
  ToolBatchContext,
  ToolCall,
  ToolCallResult,
  ToolResultReducerRegistry,
  TurnAttachment,
} from '@ethosagent/types';
import type { CapabilityBackends } from '../backends.js';
import type { CallHooks } from '../call-hooks.js';
import type { CallJournal } from '../call-scope.js';
import type { KnownTaints } from '../known-taints.js';
import type { SessionMeters } from '../quotas/session-meters.js';
import type { CheckSchema } from '../schema-gate.js';
import { DEFAULT_MAX_SERVICES, type ServiceTable } from '../services/service-table.js';
import type { RegisteredTool, ToolFilters } from '../tool-gates.js';
import type { CallFacts, TurnHost } from '../turn-host.js';
import type { BatchFacts } from './call-context.js';
import type { Slots } from './slots.js';
import type { Watch } from './watch.js';

/** Settings of a registry. */
export interface ToolRegistryOptions extends CallHooks {
  /** Milliseconds that a call may take when its tool does not say. 120,000 when absent. */
  defaultTimeoutMs?: number;
  /**
   * Calls of one batch that run at the same time; those that wait for approval don't count. 32 when
   * absent.
   */
  maxConcurrency?: number;
  /** Background processes of one session that may run at once. 8 when absent. */
  maxBackgroundProcesses?: number;
  /** Services of one session that may be open at once. 8 when absent. */
  maxServices?: number;
  /**
   * Milliseconds that a service may take to close what it holds, and then its processes to end. 5,000
   * when absent.
   */
  maxServiceCloseMs?: number;
  /**
   * Makes the check of arguments for tools that have a plain `schema`, no `input`, and not
   * `validateSchema: false`. Without it, the arguments of these tools are not checked.
   */
  checkSchema?: CheckSchema | undefined;
  /** Whether the events of calls hold their arguments. `false` when absent. */
  auditArguments?: boolean;
  /** Whether the events of calls hold what the model reads. `false` when absent. */
  auditResults?: boolean;
  /** The clock of audit events, in milliseconds since the epoch. `Date.now` when absent. */
  now?: () => number;
}

/** The names of all settings of a registry. */
export const REGISTRY_OPTIONS: OptionNames<ToolRegistryOptions> = {
  beforeCall: true,
  afterCall: true,
  onAccess: true,
  onError: true,
  defaultTimeoutMs: true,
  maxConcurrency: true,
  maxBackgroundProcesses: true,
  maxServices: true,
  maxServiceCloseMs: true,
  checkSchema: true,
  auditArguments: true,
  auditResults: true,
  now: true,
};

/** The settings of batches, with their defaults. */
export type BatchOptions = Required<Omit<ToolRegistryOptions, keyof CallHooks>>;

export const DEFAULT_BATCH_OPTIONS: BatchOptions = {
  defaultTimeoutMs: 120_000,
  maxConcurrency: 32,
  maxBackgroundProcesses: DEFAULT_MAX_BACKGROUND_PROCESSES,
  maxServices: DEFAULT_MAX_SERVICES,
  maxServiceCloseMs: 5_000,
  checkSchema: undefined,
  auditArguments: false,
  auditResults: false,
  now: Date.now,
};

/**
 * Everything that the calls of one batch share. Only the meters, and what calls left running,
 * outlive the batch.
 */
export interface BatchInput {
  calls: readonly ToolCall[];
  ctx: ToolBatchContext;
  tools: ReadonlyMap<string, RegisteredTool>;
  filters: ToolFilters;
  attachments: readonly TurnAttachment[];
  /** The owner of the turn. */
  host: TurnHost | undefined;
  backends: CapabilityBackends | undefined;
  reducers: ToolResultReducerRegistry | undefined;
  options: BatchOptions;
  hooks: CallHooks;
  /** What each session has used up, over all its batches. */
  meters: SessionMeters;
  /** The processes that tools left running, of all sessions. */
  background: BackgroundProcessTable;
  /** The services that tools keep open, of all sessions. */
  services: ServiceTable;
  /** What is known about untrusted content, of all sessions. */
  taints: KnownTaints;
}

/** What the calls of one batch share while they run. */
export interface Batch {
  readonly input: BatchInput;
  readonly facts: BatchFacts;
  readonly watch: Watch;
  readonly slots: Slots;
  readonly journal: CallJournal;
  /** Whether anybody besides the batch receives the answers. */
  readonly isHeard: boolean;
  /**
   * Takes the answer of a call, by its place in the batch.
   * @param facts absent when nobody besides the batch receives the answers
   */
  answer(index: number, answer: ToolCallResult, facts?: CallFacts): void;
}
