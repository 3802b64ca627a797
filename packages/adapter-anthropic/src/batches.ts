import type { SessionResult } from '@ethosagent/core';
import type { ToolCall } from '@ethosagent/types';

type RunBatch = (
  calls: readonly ToolCall[],
  signal: AbortSignal | undefined,
) => Promise<SessionResult[]>;

interface OpenBatch {
  calls: ToolCall[];
  signal: AbortSignal | undefined;
  results: Promise<SessionResult[]>;
}

/**
 * Runs calls that begin together as one batch. The tool runner starts the calls of a reply one
 * after another without waiting. So the calls of one reply form one batch, as the model issued
 * them: none of them knows what another one has read.
 */
export function createBatches(
  run: RunBatch,
): (call: ToolCall, signal: AbortSignal | undefined) => Promise<SessionResult> {
  let open: OpenBatch | undefined;
  function begin(signal: AbortSignal | undefined): OpenBatch {
    const calls: ToolCall[] = [];
    const batch: OpenBatch = {
      calls,
      signal,
      results: Promise.resolve().then(() => {
        if (open === batch) open = undefined;
        return run(calls, signal);
      }),
    };
    return batch;
  }
  return async (call, signal) => {
    if (open === undefined || open.signal !== signal) open = begin(signal);
    const { calls, results } = open;
    const index = calls.push(call) - 1;
    const result = (await results)[index];
    if (result === undefined) throw new TypeError(`${call.name} gave no result`);
    return result;
  };
}
