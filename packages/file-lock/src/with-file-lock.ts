import { setTimeout as delay } from 'node:timers/promises';
import { Turns } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { tryLock } from './take-lock.js';

const turns = new Turns();

/**
 * Runs a task while it holds the lock of a path, which no other task has then, in this process or
 * in another one. The lock of a process that died is removed.
 *
 * @param path the path to lock, in a folder that exists; equal paths are the same lock
 * @param options `waitMs`: milliseconds to wait for the lock of another process
 * @param task runs while the lock is held
 * @returns the result of the task
 * @throws `STORE_UNAVAILABLE` if another process did not release the lock within `waitMs`
 * @throws errors of the task, and errors of the operating system
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
