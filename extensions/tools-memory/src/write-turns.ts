/** Longest that one write keeps the others waiting. */
const LONGEST_TURN_MS = 5_000;

let last: Promise<unknown> = Promise.resolve();

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
  const before = last;
  let done = () => {};
  last = new Promise<void>((resolve) => {
    done = resolve;
  });
  try {
    await untilAborted(signal, before);
    const timer = setTimeout(done, longestMs);
    timer.unref();
    try {
      return await run();
    } finally {
      clearTimeout(timer);
    }
  } finally {
    done();
  }
}

async function untilAborted(signal: AbortSignal, waited: Promise<unknown>): Promise<void> {
  let onAbort = () => {};
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
    signal.addEventListener('abort', onAbort);
  });
  if (!signal.aborted) await Promise.race([waited, aborted]);
  signal.removeEventListener('abort', onAbort);
  signal.throwIfAborted();
}
