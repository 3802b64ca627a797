import { errorCodeOf } from '@ethosagent/types';

/**
 * Returns the code with which a call was refused, or the error if it has none; `done` if the call
 * was not refused.
 */
export function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'done',
    (error: unknown) => errorCodeOf(error) ?? error,
  );
}
