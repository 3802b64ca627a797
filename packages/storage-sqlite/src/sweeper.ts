import { clearInterval, setInterval } from 'node:timers';
import type { KvTable } from './kv-table.js';
import type { WriteQueue } from './write-queue.js';

export interface SweeperOptions {
  table: KvTable;
  queue: WriteQueue;
  /** Returns milliseconds since the epoch. */
  clock: () => number;
  intervalMs: number;
}

/** No read has to wait for a sweep: the rows that it removes are already invisible. */
const NO_NAMESPACE = Symbol('no namespace');

/** Removes expired rows regularly, in small batches. Does not keep the process alive. */
export function startSweeper({ table, queue, clock, intervalMs }: SweeperOptions): {
  stop: () => void;
} {
  let sweeping = false;

  async function sweep(): Promise<void> {
    if (sweeping) return;
    sweeping = true;
    try {
      const now = clock();
      let more = table.hasExpired(now);
      while (more) more = await queue.run(NO_NAMESPACE, () => table.sweep(now));
    } catch {
      // The next round tries again. If the store can't be written, those who write get the error.
    } finally {
      sweeping = false;
    }
  }

  const timer = setInterval(sweep, intervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
