import { discard } from './promises.js';

/**
 * Notifies a listener of the host. What it throws, and the rejection of what it returns, are
 * ignored: a listener that fails must not harm what it is told of.
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
