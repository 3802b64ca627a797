import { setMaxListeners } from 'node:events';
import { type BackgroundProcessTable, DEFAULT_MAX_BACKGROUND_PROCESSES } from '@ethosagent/process';
import type {
  ToolBatchContext,
  ToolCall,
  ToolCallResult,
  ToolResult,
  ToolResultReducerRegistry,
  TurnAttachment,
} from '@ethosagent/types';
import type { CapabilityBackends } from '../backends.js';
import type { CallJournal } from '../call-scope.js';
import type { SessionMeters } from '../quotas/session-meters.js';
import { discard } from '../rejections.js';
import { DEFAULT_MAX_SERVICES, type ServiceTable } from '../services/service-table.js';
import type { RegisteredTool, ToolFilters } from '../tool-gates.js';
import type { TurnHost } from '../turn-host.js';
import { type BatchFacts, batchFacts } from './call-context.js';
import { RunningCall } from './running-call.js';
import { Slots } from './slots.js';
import { Watch } from './watch.js';

/** Limits of a batch. */
export interface BatchOptions {
  /** Milliseconds that a call may take when its tool does not say. */
  defaultTimeoutMs: number;
  /** Calls of one batch that run at the same time. Calls that wait for approval don't count. */
  maxConcurrency: number;
  /** Background processes of one session that may run at once. */
  maxBackgroundProcesses: number;
  /** Services of one session that may be open at once. */
  maxServices: number;
  /** The clock of audit events, in milliseconds since the epoch. */
  now: () => number;
}

export const DEFAULT_BATCH_OPTIONS: BatchOptions = {
  defaultTimeoutMs: 120_000,
  maxConcurrency: 32,
  maxBackgroundProcesses: DEFAULT_MAX_BACKGROUND_PROCESSES,
  maxServices: DEFAULT_MAX_SERVICES,
  now: Date.now,
};

/** Everything that the calls of one batch have in common. Only the meters and what was left
 * running outlive the batch. */
export interface BatchInput {
  calls: readonly ToolCall[];
  ctx: ToolBatchContext;
  tools: ReadonlyMap<string, RegisteredTool>;
  filters: ToolFilters;
  attachments: readonly TurnAttachment[];
  /** Whoever runs the turn. */
  host: TurnHost | undefined;
  backends: CapabilityBackends | undefined;
  reducers: ToolResultReducerRegistry | undefined;
  options: BatchOptions;
  /** What sessions have used up, of all batches. */
  meters: SessionMeters;
  /** What tools left running, of all sessions. */
  background: BackgroundProcessTable;
  /** What tools keep open, of all sessions. */
  services: ServiceTable;
}

/** What the calls of one batch share while they run. */
export interface Batch {
  readonly input: BatchInput;
  readonly facts: BatchFacts;
  readonly watch: Watch;
  readonly slots: Slots;
  readonly journal: CallJournal;
}

/** Runs the calls of a batch. The results are in the order of the calls; nothing throws. */
export function runBatch(input: BatchInput): Promise<ToolCallResult[]> {
  const { calls, ctx, backends, options, host } = input;
  const facts = batchFacts(ctx);
  const { abortSignal } = facts;
  // Every request of every call may listen; Node warns of a leak from the eleventh on.
  if (abortSignal instanceof AbortSignal) setMaxListeners(0, abortSignal);
  const watch = new Watch(ctx.abortSignal);
  const batch: Batch = {
    input,
    facts,
    watch,
    slots: new Slots(Math.max(1, Math.floor(options.maxConcurrency) || 1)),
    journal: {
      sessionId: facts.sessionId,
      personalityId: facts.personalityId,
      audit: backends?.audit,
      now: options.now,
      secrets: () => input.services.secretsOf(facts),
    },
  };
  // One promise for the batch and a count, where a promise for each call would cost as much as the
  // rest of a short call.
  return new Promise((resolve) => {
    const results = new Array<ToolCallResult>(calls.length);
    let pending = calls.length;
    const finish = () => {
      watch.close();
      resolve(results);
    };
    if (pending === 0) finish();
    for (const [index, call] of calls.entries()) {
      new RunningCall(batch, call, (result) => {
        const answer = resultOf(call, result);
        results[index] = answer;
        tell(host, answer);
        pending -= 1;
        if (pending === 0) finish();
      }).start();
    }
  });
}

/** A host that fails harms no call, and no other host. */
function tell(host: TurnHost | undefined, answer: ToolCallResult): void {
  if (host?.onResult === undefined) return;
  try {
    const returned: unknown = host.onResult(answer);
    discard(returned);
  } catch {
    // It is told; it has no say.
  }
}

/** A host may pass on what can not even be read, as a revoked `Proxy`; it is answered all the same. */
function resultOf(call: ToolCall, result: ToolResult): ToolCallResult {
  try {
    return { toolCallId: call?.toolCallId, name: call?.name, result };
  } catch {
    return { toolCallId: '', name: '', result };
  }
}
