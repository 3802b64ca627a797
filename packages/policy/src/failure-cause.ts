import {
  errorCodeOf,
  type FailureCause,
  TOOL_ERROR_CODES,
  type ToolErrorCode,
} from '@ethosagent/types';

/** Causes that only the framework can give. A tool that names one of them is not believed. */
const FRAMEWORK_CAUSES: ReadonlySet<FailureCause> = new Set<FailureCause>([
  'CALL_ABORTED',
  'CALL_INTERRUPTED',
  'TURN_LIMIT',
  'TOOL_NOT_FOUND',
  'TOOL_NOT_ALLOWED',
  'NOT_APPROVED',
]);

/**
 * The cause of a failed result that a tool made; `undefined` where the tool only says that it
 * failed.
 *
 * @param said the cause that the tool names; anything, from anybody
 * @returns the cause
 */
export function causeOfResult(said: unknown): FailureCause | undefined {
  return claimable(errorCodeOf({ code: said }));
}

/**
 * The cause behind a thrown value, of a tool or of the code that it called; `undefined` where no
 * error of this project is behind it. Never throws itself.
 *
 * @param thrown any value
 * @returns the cause
 */
export function causeOfThrown(thrown: unknown): FailureCause | undefined {
  try {
    return claimable(errorCodeOf(thrown)) ?? (isTimeout(thrown) ? 'CALL_TIMED_OUT' : undefined);
  } catch {
    return undefined;
  }
}

/**
 * The cause of a call that a signal ended. When the time of a turn is up, its signal is aborted
 * with a `TimeoutError`.
 *
 * @param reason the `reason` of the signal
 * @returns the cause
 */
export function causeOfAbort(reason: unknown): 'CALL_TIMED_OUT' | 'CALL_ABORTED' {
  try {
    return isTimeout(reason) ? 'CALL_TIMED_OUT' : 'CALL_ABORTED';
  } catch {
    return 'CALL_ABORTED';
  }
}

/**
 * Whether a value is one of the documented classes of failed results.
 *
 * @param code any value
 */
export function isToolErrorCode(code: unknown): code is ToolErrorCode {
  return typeof code === 'string' && Object.hasOwn(TOOL_ERROR_CODES, code);
}

function claimable(cause: FailureCause | undefined): FailureCause | undefined {
  return cause === undefined || FRAMEWORK_CAUSES.has(cause) ? undefined : cause;
}

function isTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'TimeoutError';
}
