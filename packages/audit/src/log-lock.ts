import { type LockAttempt, tryLock } from '@ethosagent/file-lock';
import { EthosError } from '@ethosagent/types';

const MAX_ATTEMPTS = 20;

/**
 * Reserves a log for one sink of this process.
 * @returns a function that releases the log
 * @throws `STORE_UNAVAILABLE` while another sink, of this process or another one, has the log
 */
export function lockLog(log: string): () => void {
  for (let tries = 1; ; tries += 1) {
    const attempt: LockAttempt = tryLock(log);
    if (attempt.isTaken) return attempt.release;
    const { isHolder, pid, file } = attempt.rival;
    if (isHolder || tries === MAX_ATTEMPTS) {
      throw new EthosError(
        'STORE_UNAVAILABLE',
        `process ${pid} writes ${log}; use another file, or remove ${file} if that process is gone`,
      );
    }
    // If two processes come at the same time, both step back. Random pauses keep them from meeting
    // again.
    pause(Math.random() * 2 * tries);
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
