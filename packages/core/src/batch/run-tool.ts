import { isThenable } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import { createCallContext } from './call-accessors.js';
import type { CallState } from './call-state.js';
import type { Ending } from './guarded.js';
import { reducerOf } from './way-back.js';

/** Calls the tool. Returns its promise, or how it ended if it ended at once. */
export function runTool(state: CallState): PromiseLike<ToolResult> | Ending<unknown> {
  const { watch } = state.batch;
  // The call may have waited for its place while the turn was aborted. Then it must not begin.
  if (watch.aborted) return { kind: 'stopped', why: 'abort', reason: watch.reason };
  const { tool } = state.entry;
  try {
    const scope = state.newScope();
    state.scope = scope;
    const ctx = createCallContext(state, scope);
    state.batch.journal.assertOwned?.();
    // The tool may change its arguments. The reducer is shown a copy from before.
    if (reducerOf(state) !== undefined) state.shown = snapshot(state.args);
    const returned =
      tool.input === undefined ? tool.execute(state.args, ctx) : tool.input.run(state.args, ctx);
    return isThenable(returned) ? returned : { kind: 'returned', value: returned };
  } catch (error) {
    return { kind: 'threw', error };
  }
}

// A schema may turn arguments into something that can't be copied.
function snapshot(args: unknown): unknown {
  try {
    return structuredClone(args);
  } catch {
    return args;
  }
}
