import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IdleWatch } from './idle-watch.js';

const IDLE_MS = 1_000;

/** A promise that is settled by hand. */
function part() {
  let come = (_value: string) => {};
  let fail = (_error: unknown) => {};
  const promise = new Promise<string>((resolve, reject) => {
    come = resolve;
    fail = reject;
  });
  return { promise, come, fail };
}

describe('IdleWatch', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('gives every part its own time', async () => {
    const watch = new IdleWatch(IDLE_MS, new AbortController().signal);
    for (let at = 0; at < 5; at++) {
      const { promise, come } = part();
      const waited = watch.wait(promise);
      vi.advanceTimersByTime(IDLE_MS - 1);
      come(`${at}`);
      expect(await waited).toBe(`${at}`);
    }
    watch.end();
  });

  it('ends a wait after its time, and says for how long the model was silent', async () => {
    const watch = new IdleWatch(IDLE_MS, new AbortController().signal);
    const { promise } = part();
    const failed = watch.wait(promise).catch((error: unknown) => error);
    vi.advanceTimersByTime(IDLE_MS);
    expect(await failed).toMatchObject({ message: expect.stringContaining('silent for 1 s') });
    watch.end();
  });

  it('does not count the time in which the last part is read', async () => {
    const watch = new IdleWatch(IDLE_MS, new AbortController().signal);
    expect(await watch.wait(Promise.resolve('first'))).toBe('first');
    vi.advanceTimersByTime(10 * IDLE_MS);
    const { promise, come } = part();
    const waited = watch.wait(promise);
    vi.advanceTimersByTime(IDLE_MS - 1);
    come('second');
    expect(await waited).toBe('second');
    // The clock runs again, though it had run out between the two.
    const failed = watch.wait(part().promise).catch((error: unknown) => error);
    vi.advanceTimersByTime(IDLE_MS);
    expect(await failed).toMatchObject({ message: expect.stringContaining('silent') });
    watch.end();
  });

  it('ends a wait when the signal fires, and each later one', async () => {
    const stop = new AbortController();
    const watch = new IdleWatch(IDLE_MS, stop.signal);
    const waited = watch.wait(part().promise);
    stop.abort('enough');
    await expect(waited).rejects.toBe('enough');
    await expect(watch.wait(part().promise)).rejects.toBe('enough');
    // A part that fails after its wait has ended is nobody's unhandled error.
    const late = part();
    await expect(watch.wait(late.promise)).rejects.toBe('enough');
    late.fail(new Error('too late'));
    watch.end();
  });

  it('passes the error of a part on', async () => {
    const watch = new IdleWatch(IDLE_MS, new AbortController().signal);
    await expect(watch.wait(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    watch.end();
  });

  it('leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController();
    const watch = new IdleWatch(IDLE_MS, signal);
    for (let at = 0; at < 50; at++) await watch.wait(Promise.resolve(at));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(1);
    watch.end();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
