import { clearInterval, setInterval } from 'node:timers';
import type { KvTable } from './kv-table.js';
import type { WriteQueue } from './write-queue.js';

export interface SweeperOptions {
  table: KvTable;
  queue: WriteQueue;
  /** Milliseconds since the epoch. */
  clock: () => number;
  intervalMs: number;
}

/** No scope's reads wait for a sweep: what it removes is already invisible. */
const NO_NAMESPACE = Symbol('no namespace');

/** Removes expired rows from time to time, in small batches. Doesn't keep the process alive. */
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
      // The next round tries again; a store that can't be written says so to those who write.
    } finally {
      sweeping = false;
    }
  }

  const timer = setInterval(sweep, intervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
