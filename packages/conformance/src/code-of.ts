import { errorCodeOf } from '@ethosagent/types';

/** Returns the code with which a call was refused; `done` if it was not refused. */
export function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  return call.then(() => 'done', errorCodeOf);
}
