import { describe, expect, it } from 'vitest';
import { Turns } from './turns.js';

const wait = <T>(work: Promise<T>) => work;

describe('Turns', () => {
  it('lets one work at a time, in the order of asking, whatever fails', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const job = (name: string, fails = false) =>
      turns
        .run(wait, async () => {
          log.push(`${name} begins`);
          await new Promise((resolve) => setTimeout(resolve, 5));
          log.push(`${name} ends`);
          if (fails) throw new Error(name);
        })
        .catch(() => {});
    await Promise.all([job('a'), job('b', true), job('c')]);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(turns.isBusy).toBe(false);
  });

  it('passes over who gave up, without letting the next one in early', async () => {
    const turns = new Turns();
    let release = () => {};
    const first = turns.run(
      wait,
      () =>
        new Promise<void>((resolve) => {
          release = resolve;
        }),
    );
    const impatient = turns.run(
      () => Promise.reject(new Error('gave up')),
      async () => 'ran',
    );
    await expect(impatient).rejects.toThrow('gave up');
    let hasRun = false;
    const last = turns.run(wait, async () => {
      hasRun = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(hasRun).toBe(false);
    release();
    await Promise.all([first, last]);
    expect(hasRun).toBe(true);
  });
});
