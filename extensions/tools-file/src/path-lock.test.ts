import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { withEditLock, withPathLock } from './path-lock.js';

describe('withPathLock', () => {
  it('runs accesses of one path one after the other, in the order of asking', async () => {
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

  it('runs accesses of different paths at once', async () => {
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

describe('withEditLock', () => {
  it('runs edits of different paths one after the other, and lets reads by', async () => {
    const log: string[] = [];
    let release = (): void => {};
    const first = withEditLock('/repo/a.txt', async () => {
      await new Promise<void>((done) => (release = done));
      log.push('first edit');
    });
    const second = withEditLock('/repo/b.txt', async () => {
      log.push('second edit');
    });
    await withPathLock('/repo/c.txt', async () => {
      log.push('read');
    });
    release();
    await Promise.all([first, second]);
    expect(log).toEqual(['read', 'first edit', 'second edit']);
  });

  it('waits for a read of the same path that came first', async () => {
    const log: string[] = [];
    const read = withPathLock('/repo/a.txt', async () => {
      await sleep(10);
      log.push('read');
    });
    const edit = withEditLock('/repo/a.txt', async () => {
      log.push('edit');
    });
    await Promise.all([read, edit]);
    expect(log).toEqual(['read', 'edit']);
  });
});
