/** How long the end of a process tree is awaited. Not every process can be killed. */
const MAX_END_MS = 5_000;

const ending = new Set<Promise<unknown>>();

/**
 * Notes a process that is being ended.
 *
 * @param closed resolves when it has ended, and its output is closed
 */
export function noteEnding(closed: Promise<unknown>): void {
  if (ending.has(closed)) return;
  ending.add(closed);
  void closed.finally(() => ending.delete(closed));
}

/**
 * Waits for the processes of calls that are being ended, in this process, for five seconds at most.
 * Never rejects.
 */
export async function processesEnded(): Promise<void> {
  if (ending.size > 0) await endedSoon(Promise.all(ending));
}

/**
 * Waits for the end of processes that were killed, for five seconds at most.
 *
 * @param ended resolves when they have ended
 */
export async function endedSoon(ended: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAX_END_MS);
  });
  await Promise.race([ended, late]);
  clearTimeout(timer);
}
