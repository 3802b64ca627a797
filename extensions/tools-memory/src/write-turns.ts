import { Turns } from '@ethosagent/policy';

/** The longest time that one write keeps the others waiting. */
const LONGEST_TURN_MS = 5_000;

const turns = new Turns();

/**
 * Writes of this process take turns, so that the writes of one batch do not make each other start over.
 * The turns do not make them safe; the revision of the memory does. So a write that hangs may lose its
 * turn, and an aborted write ends its turn.
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
    // In an object, because an async function waits for a promise that it returns.
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
