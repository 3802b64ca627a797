import { errorBehind, type ToolResult } from '@ethosagent/types';
import { checkShape } from '../results/check-shape.js';
import { redactResult } from '../results/redact.js';
import { reduceResult } from '../results/reduce.js';
import { trimResult } from '../results/trim.js';
import type { CallState } from './call-state.js';
import type { Ending } from './guarded.js';
import { threw, unfinished } from './steps/step.js';

/**
 * Turns what the tool returned into what the model reads: checks its shape, reduces, redacts and
 * trims it.
 */
export function wayBack(state: CallState, ending: Ending<unknown>): ToolResult {
  try {
    const checked =
      ending.kind === 'returned' ? returned(state, ending.value) : unfinished(state, ending);
    return fitted(state, reduce(state, checked));
  } catch (error) {
    // A reducer of the host failed. The batch must get an answer all the same.
    return trimResult(threw(state, error), state.budgetChars ?? 0);
  }
}

/** Redacts a result and trims it to the budget of its call. */
export function fitted(state: CallState, result: ToolResult): ToolResult {
  const { redactor, budgetChars = Number.POSITIVE_INFINITY } = state;
  if (redactor === undefined) return trimResult(result, budgetChars);
  const before = redactor.replaced;
  // Redaction may lengthen a text, so the same step also cuts it.
  const redacted = redactResult(result, redactor, budgetChars);
  state.redactions = redactor.replaced - before;
  return redacted;
}

function returned(state: CallState, value: unknown): ToolResult {
  const checked = checkShape(value);
  if (!checked.ok) state.thrown = behind(value);
  return checked;
}

// A result may be an object that throws when it is read.
function behind(value: unknown): { readonly error: unknown } | undefined {
  try {
    return errorBehind(value);
  } catch {
    return undefined;
  }
}

export function reducerOf({ batch, entry }: CallState) {
  return batch.input.reducers?.get(entry.name);
}

function reduce(state: CallState, result: ToolResult): ToolResult {
  const reducer = reducerOf(state);
  if (reducer === undefined) return result;
  const { currentTurn: turnCount } = state.batch.facts;
  return reduceResult(result, reducer, { args: state.shown, turnCount });
}
