import { causeOfAbort, causeOfThrown, errorText } from '@ethosagent/policy';
import type { FailureCause, ToolResult } from '@ethosagent/types';
import { failure } from '../../results/check-shape.js';
import { type CallState, PARTLY_DONE } from '../call-state.js';
import type { Ending } from '../guarded.js';

/** The answer of a call that does not run; `undefined` lets it go on. */
export type Answer = ToolResult | undefined;

/**
 * One step on the way to a tool. It returns a promise only if it has to wait: a promise for each
 * step would cost more than all the steps.
 */
export type Step = (state: CallState) => Answer | Promise<Answer>;

export function notAvailable(error: string, cause: FailureCause): ToolResult {
  return { ok: false, error, code: 'not_available', cause };
}

export function inputInvalid(error: string): ToolResult {
  return { ok: false, error, code: 'input_invalid', cause: 'INPUT_INVALID' };
}

/** The result of a call in which something threw. */
export function threw(state: CallState, error: unknown): ToolResult {
  state.thrown = { error };
  return failure(errorText(error), causeOfThrown(error));
}

/** The result of a call that was stopped, or that did not begin because the turn was aborted. */
export function stopped(
  state: CallState,
  { why, reason }: Pick<Stopped, 'why' | 'reason'>,
): ToolResult {
  if (why === 'timeout') {
    const error = state.timeoutError;
    state.thrown = { error };
    return failure(error.message, 'CALL_TIMED_OUT');
  }
  const cause = causeOfAbort(reason);
  state.thrown = { error: reason };
  const what = cause === 'CALL_TIMED_OUT' ? 'the time of the turn was up' : 'the turn was aborted';
  const ran =
    state.scope === undefined
      ? 'before this call ran; call it again only if it is still wanted'
      : `while this call ran; ${PARTLY_DONE}`;
  return failure(`${what} ${ran}`, cause);
}

type Stopped = Extract<Ending<unknown>, { kind: 'stopped' }>;

/** The result of code that was stopped before it returned. */
export function unfinished(
  state: CallState,
  ending: Exclude<Ending<unknown>, { kind: 'returned' }>,
): ToolResult {
  return ending.kind === 'threw' ? threw(state, ending.error) : stopped(state, ending);
}
