import { isThenable } from '@ethosagent/policy';
import type { Watch, Watched } from './watch.js';

/** How foreign code ended: it returned, it threw, or the wait for it was stopped. */
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
 * Runs foreign code, and waits until it ends, its deadline comes or the turn is aborted. A value
 * that is returned at once is not waited for.
 *
 * @param timeoutMs milliseconds; `Infinity` for no limit
 */
export function guarded<T>(
  watch: Watch,
  timeoutMs: number,
  run: () => T | PromiseLike<T>,
): Ending<T> | Promise<Ending<T>> {
  // The call may have waited for its place while the turn was aborted. Then it must not begin.
  return watch.aborted ? stoppedBy(watch) : begun(watch, timeoutMs, run);
}

/** Like `guarded`, but runs the code even if the turn was aborted before. Then it is not waited for. */
export function begun<T>(
  watch: Watch,
  timeoutMs: number,
  run: () => T | PromiseLike<T>,
): Ending<T> | Promise<Ending<T>> {
  try {
    const returned = run();
    if (!isThenable(returned)) return { kind: 'returned', value: returned };
    return settled(watch, timeoutMs, returned);
  } catch (error) {
    return { kind: 'threw', error };
  }
}

/**
 * Waits until a promise of foreign code settles, its deadline comes or the turn is aborted. Never
 * rejects.
 */
export function settled<T>(
  watch: Watch,
  timeoutMs: number,
  pending: PromiseLike<T>,
): Promise<Ending<T>> {
  return new Promise((resolve) => {
    const watched: Watched = {
      deadline: performance.now() + timeoutMs,
      before: undefined,
      after: undefined,
      stop: (why, reason) => settle({ kind: 'stopped', why, reason }),
    };
    const settle = (ending: Ending<T>) => {
      watch.remove(watched);
      resolve(watch.aborted && ending.kind !== 'stopped' ? stoppedBy(watch) : ending);
    };
    watch.add(watched);
    try {
      // A foreign thenable may call back several times; a real promise that resolves to it settles
      // once.
      Promise.resolve(pending).then(
        (value) => settle({ kind: 'returned', value }),
        (error: unknown) => settle({ kind: 'threw', error }),
      );
    } catch (error) {
      // The `then` of a foreign promise may throw.
      settle({ kind: 'threw', error });
    }
  });
}

/** The ending of a call that was still running when the turn was aborted. */
export function stoppedBy(watch: Watch): Stopped {
  return { kind: 'stopped', why: 'abort', reason: watch.reason };
}
