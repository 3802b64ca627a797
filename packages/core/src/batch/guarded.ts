import { isThenable } from '@ethosagent/policy';
import type { Watch, Watched } from './watch.js';

/** How foreign code ended: by returning, by throwing, or by being left behind. */
export type Ending<T> =
  | { kind: 'returned'; value: T }
  | { kind: 'threw'; error: unknown }
  | Stopped;

interface Stopped {
  kind: 'stopped';
  why: 'timeout' | 'abort';
  reason: unknown;
}

/**
 * Runs foreign code and waits for it, for its deadline or for the abort, whichever is first. What
 * returns at once is not waited for.
 *
 * @param timeoutMs milliseconds; `Infinity` for none
 */
export function guarded<T>(
  watch: Watch,
  timeoutMs: number,
  run: () => T | PromiseLike<T>,
): Ending<T> | Promise<Ending<T>> {
  // What waited for its place when the turn was aborted must not begin any more.
  if (watch.aborted) return stoppedBy(watch);
  try {
    const returned = run();
    if (!isThenable(returned)) return { kind: 'returned', value: returned };
    return settled(watch, timeoutMs, returned);
  } catch (error) {
    return { kind: 'threw', error };
  }
}

/** Waits for a promise of foreign code, for its deadline or for the abort. Never rejects. */
export function settled<T>(
  watch: Watch,
  timeoutMs: number,
  pending: PromiseLike<T>,
): Promise<Ending<T>> {
  return new Promise((resolve) => {
    const watched: Watched = {
      deadline: performance.now() + timeoutMs,
      stop: (why, reason) => settle({ kind: 'stopped', why, reason }),
    };
    const settle = (ending: Ending<T>) => {
      watch.remove(watched);
      resolve(watch.aborted && ending.kind !== 'stopped' ? stoppedBy(watch) : ending);
    };
    watch.add(watched);
    try {
      // A foreign thenable may lie; a real promise of its answer settles once.
      Promise.resolve(pending).then(
        (value) => settle({ kind: 'returned', value }),
        (error: unknown) => settle({ kind: 'threw', error }),
      );
    } catch (error) {
      // A promise whose own `then` throws.
      settle({ kind: 'threw', error });
    }
  });
}

/** The end of what was not over when the turn was aborted. */
export function stoppedBy(watch: Watch): Stopped {
  return { kind: 'stopped', why: 'abort', reason: watch.reason };
}
