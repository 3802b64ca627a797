import { isThenable } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import { createCallContext } from './call-accessors.js';
import type { CallState } from './call-state.js';
import type { Ending } from './guarded.js';
import { reducerOf } from './way-back.js';

/** Calls the tool. Gives its promise, or how it ended at once. */
export function runTool(state: CallState): PromiseLike<ToolResult> | Ending<unknown> {
  const { watch } = state.batch;
  // What waited for its place when the turn was aborted must not begin any more.
  if (watch.aborted) return { kind: 'stopped', why: 'abort', reason: watch.reason };
  const { tool } = state.entry;
  const scope = state.newScope();
  state.scope = scope;
  try {
    const ctx = createCallContext(state, scope);
    state.batch.journal.assertOwned?.();
    // The reducer is shown what was asked, whatever the tool does to its arguments.
    if (reducerOf(state) !== undefined) state.shown = snapshot(state.args);
    const returned =
      tool.input === undefined ? tool.execute(state.args, ctx) : tool.input.run(state.args, ctx);
    return isThenable(returned) ? returned : { kind: 'returned', value: returned };
  } catch (error) {
    return { kind: 'threw', error };
  }
}

// What a schema makes of arguments may be beyond copying.
function snapshot(args: unknown): unknown {
  try {
    return structuredClone(args);
  } catch {
    return args;
  }
}
