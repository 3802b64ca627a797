import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Holds the write lock of a database now and then, as another program would, until it is stopped.
 * In a thread of its own, because who waits for the lock may stop this one.
 */
export function startLocker(path: string, seed: number): { stop(): Promise<void> } {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('./locker-thread.mjs', import.meta.url), {
    workerData: { path, shared, seed },
    // The options of this thread are not passed on: the locker needs neither TypeScript nor `--expose-gc`.
    execArgv: [],
  });
  const ended = once(worker, 'exit');
  return {
    async stop() {
      Atomics.store(shared, 0, 1);
      Atomics.notify(shared, 0);
      await ended;
    },
  };
}
