import { type LockAttempt, tryLock } from '@ethosagent/file-lock';
import { EthosError } from '@ethosagent/types';

const MAX_ATTEMPTS = 20;

/**
 * Takes a log for this process, for as long as its sink is open.
 * @returns what gives it back
 * @throws `STORE_UNAVAILABLE` while another process, or this one, has it
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
    // Both of two that came at once step back; chance parts them.
    pause(Math.random() * 2 * tries);
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
