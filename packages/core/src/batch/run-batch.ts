import { setMaxListeners } from 'node:events';
import { callListener } from '@ethosagent/policy';
import type { ToolCall, ToolCallResult, ToolResult } from '@ethosagent/types';
import type { Batch, BatchInput } from './batch.js';
import { batchFacts } from './call-context.js';
import { RunningCall } from './running-call.js';
import { Slots } from './slots.js';
import { Watch } from './watch.js';

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
      assertOwned: host?.assertOwned,
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
      new RunningCall(batch, call, (result, { isUntrusted, facts: went }) => {
        const answer = {
          ...resultOf(call, result),
          ...(isUntrusted && { untrusted: true as const }),
        };
        results[index] = answer;
        callListener(() => host?.onResult?.(answer, went));
        pending -= 1;
        if (pending === 0) finish();
      }).start();
    }
  });
}

/** A host may pass on what can not even be read, as a revoked `Proxy`; it is answered all the same. */
function resultOf(call: ToolCall, result: ToolResult): ToolCallResult {
  try {
    return { toolCallId: call?.toolCallId, name: call?.name, result };
  } catch {
    return { toolCallId: '', name: '', result };
  }
}
