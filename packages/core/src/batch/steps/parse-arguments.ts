import type { ToolInputResult } from '@ethosagent/types';
import type { CallState } from '../call-state.js';
import { type Ending, guarded } from '../guarded.js';
import { type Answer, inputInvalid, type Step, unfinished } from './step.js';

/** Makes of the arguments what the schema of the tool makes of them. */
export const parseArguments: Step = (state) => {
  const { input } = state.entry.tool;
  if (input === undefined) return undefined;
  const ending = guarded(state.batch.watch, state.timeoutMs, () => input.parse(state.args));
  if (ending instanceof Promise) return ending.then((settled) => take(state, settled));
  return take(state, ending);
};

function take(state: CallState, ending: Ending<ToolInputResult<unknown>>): Answer {
  if (ending.kind !== 'returned') return unfinished(state, ending);
  const parsed = ending.value;
  if (!parsed.ok) return inputInvalid(String(parsed.error));
  state.args = parsed.args;
  return undefined;
}
