import { Turns } from '@ethosagent/policy';

/** How long one write keeps the others waiting at most. */
const LONGEST_TURN_MS = 5_000;

const turns = new Turns();

/**
 * Runs a write when the earlier writes of this process have ended, so that the writes of one batch
 * don't make each other start over. The turns don't make writes safe; the revision of the memory
 * does. So a write that hangs loses its turn, and an aborted write ends its turn.
 *
 * @param longestMs how long a turn lasts at most; then the next one begins, even if this write
 *   still runs
 */
export async function inTurn<T>(
  signal: AbortSignal,
  run: () => Promise<T>,
  longestMs = LONGEST_TURN_MS,
): Promise<T> {
  const turn = async () => {
    const written = run();
    await endOf(written, longestMs);
    // In an object, because an async function waits for a promise that it returns.
    return { written };
  };
  const { written } = await turns.run('memory', turn, signal);
  return written;
}

/** Waits until a promise settles or the time is up. */
function endOf(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    timer.unref();
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(end, end);
  });
}
