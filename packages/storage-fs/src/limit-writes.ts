import { Turns } from '@ethosagent/policy';

const writes = new Turns(64);

/**
 * Runs a task that writes to the disk, with a limit on how many run at once. Each write takes two
 * descriptors, so any number of writes stays far below the limit of a process.
 */
export function limitWrites<T>(task: () => Promise<T>): Promise<T> {
  return writes.run('', task);
}
