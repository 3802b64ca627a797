import { discard } from './promises.js';

/**
 * Notifies a listener of the host. Errors that it throws, and rejections of a promise that it
 * returns, are ignored: a failing listener must not harm the work that it is told of.
 *
 * @param call calls the listener
 */
export function callListener(call: () => unknown): void {
  try {
    discard(call());
  } catch {
    // A failure of a listener must not affect the call.
  }
}
