import { setTimeout as delay } from 'node:timers/promises';
import { Turns } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { tryLock } from './take-lock.js';

const turns = new Turns();

/**
 * Runs a task while no other holds the lock of the same path, in this process or in another one.
 * The lock of a process that died is removed.
 *
 * @param path what is locked, in a folder that exists; equal paths are the same lock
 * @param options `waitMs`: milliseconds to wait for the lock
 * @param task runs while the lock is held
 * @returns what the task gives
 * @throws `STORE_UNAVAILABLE` when the lock was not free within `waitMs`
 * @throws what the task throws, and errors of the operating system
 */
export function withFileLock<T>(
  path: string,
  { waitMs }: { waitMs: number },
  task: () => Promise<T>,
): Promise<T> {
  return turns.run(path, async () => {
    const release = await waitForLock(path, waitMs);
    try {
      return await task();
    } finally {
      release();
    }
  });
}

async function waitForLock(path: string, waitMs: number): Promise<() => void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const attempt = tryLock(path);
    if (attempt.isTaken) return attempt.release;
    if (performance.now() > deadline) {
      const problem = `process ${attempt.rival.pid} keeps the file locked; try again later, or remove its lock file if that process is gone`;
      throw new EthosError('STORE_UNAVAILABLE', problem);
    }
    // A random time, so that two processes that came at the same time don't meet again.
    await delay(2 + Math.random() * 15);
  }
}
