import { errorText } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import { checkShape, failure } from '../results/check-shape.js';
import { redactResult } from '../results/redact.js';
import { reduceResult } from '../results/reduce.js';
import { trimResult } from '../results/trim.js';
import type { CallState } from './call-state.js';
import type { Ending } from './guarded.js';
import { unfinished } from './steps/step.js';

/** From what the tool gave to what the model reads: shape, reduce, redact, trim. */
export function wayBack(state: CallState, ending: Ending<unknown>): ToolResult {
  const budgetChars = state.budgetChars ?? 0;
  try {
    const checked =
      ending.kind === 'returned' ? checkShape(ending.value) : unfinished(state, ending);
    const reduced = reduce(state, checked);
    const redactor = state.scope?.redactor;
    // Redaction may lengthen a text, so it cuts as it goes.
    return redactor === undefined
      ? trimResult(reduced, budgetChars)
      : redactResult(reduced, redactor, budgetChars);
  } catch (error) {
    // A fault of a host's own reducers: the batch must get its answer.
    return trimResult(failure(errorText(error)), budgetChars);
  }
}

export function reducerOf({ batch, entry }: CallState) {
  return batch.input.reducers?.get(entry.name);
}

function reduce(state: CallState, result: ToolResult): ToolResult {
  const reducer = reducerOf(state);
  if (reducer === undefined) return result;
  const { currentTurn: turnCount } = state.batch.facts;
  return reduceResult(result, reducer, { args: state.issued, turnCount });
}
