import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { withPathLock } from './path-lock.js';

describe('withPathLock', () => {
  it('runs edits of one path one after the other, in the order of asking', async () => {
    const log: string[] = [];
    const edit = (name: string, ms: number) =>
      withPathLock('/repo/a.txt', async () => {
        log.push(`${name} starts`);
        await sleep(ms);
        log.push(`${name} ends`);
      });
    await Promise.all([edit('slow', 20), edit('fast', 0)]);
    expect(log).toEqual(['slow starts', 'slow ends', 'fast starts', 'fast ends']);
  });

  it.each([
    ['other case', '/repo/A.txt'],
    ['another Unicode form', '/repo/a\u0308.txt'],
  ])('takes %s for the same file', async (_what, other) => {
    let running = 0;
    const edit = async () => {
      running += 1;
      expect(running).toBe(1);
      await sleep(5);
      running -= 1;
    };
    const path = other.includes('\u0308') ? '/repo/ä.txt' : '/repo/a.txt';
    await Promise.all([withPathLock(path, edit), withPathLock(other, edit)]);
  });

  it('runs edits of different paths at once', async () => {
    let release = (): void => {};
    const waiting = withPathLock(
      '/repo/a.txt',
      () => new Promise<void>((done) => (release = done)),
    );
    expect(await withPathLock('/repo/b.txt', async () => 'done')).toBe('done');
    release();
    await waiting;
  });

  it('lets the next edit in after one that throws', async () => {
    const failing = withPathLock('/repo/a.txt', async () => {
      throw new RangeError('on purpose');
    });
    const next = withPathLock('/repo/a.txt', async () => 'done');
    await expect(failing).rejects.toThrow(RangeError);
    expect(await next).toBe('done');
  });
});
