import { describe, expect, it } from 'vitest';
import { Stopwatch } from './settles.js';

/** Keeps the processor for some milliseconds, however long it takes to get it. */
function work(ms: number): void {
  const before = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(before);
    if (user + system > ms * 1_000) return;
  }
}

describe('a stopwatch', () => {
  it('is late once its own process has worked for longer than the limit', () => {
    const short = new Stopwatch(20);
    const long = new Stopwatch(3_600_000);
    work(30);
    expect([short.isLate(), long.isLate()]).toEqual([true, false]);
  });

  it('is not late while other processes had the processor', () => {
    const stopwatch = new Stopwatch(20);
    // Nothing of this process runs meanwhile, as on a busy machine.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    expect(stopwatch.isLate()).toBe(false);
  });
});
