import { Turns } from '@ethosagent/policy';

const writes = new Turns(64);

/**
 * For everything that writes to the disk. Two descriptors each: any number of writes at once stays
 * far below a process's limit.
 */
export function limitWrites<T>(task: () => Promise<T>): Promise<T> {
  return writes.run('', task);
}
