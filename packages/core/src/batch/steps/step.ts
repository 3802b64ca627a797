import { errorText } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import { failure } from '../../results/check-shape.js';
import type { CallState } from '../call-state.js';
import type { Ending } from '../guarded.js';

/** The answer of a call that is not to run; `undefined` lets it go on. */
export type Answer = ToolResult | undefined;

/**
 * One step on the way to a tool. A step gives a promise only where it has to wait: a promise for
 * each step would cost more than all the steps.
 */
export type Step = (state: CallState) => Answer | Promise<Answer>;

export function notAvailable(error: string): ToolResult {
  return { ok: false, error, code: 'not_available' };
}

export function inputInvalid(error: string): ToolResult {
  return { ok: false, error, code: 'input_invalid' };
}

/** The result of code that did not return. */
export function unfinished(
  state: CallState,
  ending: Exclude<Ending<unknown>, { kind: 'returned' }>,
): ToolResult {
  if (ending.kind === 'threw') return failure(errorText(ending.error));
  return failure(ending.why === 'abort' ? 'the turn was aborted' : state.timeoutError.message);
}
