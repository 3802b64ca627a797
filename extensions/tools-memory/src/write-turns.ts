import { Turns } from '@ethosagent/policy';

/** Longest that one write keeps the others waiting. */
const LONGEST_TURN_MS = 5_000;

const turns = new Turns();

/**
 * Writes of this process take turns, so that those of one batch needn't start over because of each
 * other. It is the revision that makes them safe: a write that hangs loses its turn, and one that is
 * given up lets the next one begin.
 *
 * @param longestMs that a turn lasts; the next one begins then, whether it is over or not
 */
export async function inTurn<T>(
  signal: AbortSignal,
  run: () => Promise<T>,
  longestMs = LONGEST_TURN_MS,
): Promise<T> {
  const turn = async () => {
    const written = run();
    await endOf(written, longestMs);
    // In an object, since a promise that is returned would be waited for.
    return { written };
  };
  const { written } = await turns.run('memory', turn, signal);
  return written;
}

/** Waits until a promise settles, or until the time is up. */
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
