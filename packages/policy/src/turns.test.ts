import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Turns } from './turns.js';

/** Tasks that end when the test says so. */
function createTasks() {
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  const task = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
  };
  return { begun, task, end: (name: string) => ends.get(name)?.() };
}

describe('Turns.run', () => {
  it('runs as many at a time as it may, the others in order, and each key by itself', async () => {
    const turns = new Turns(2);
    const { begun, task, end } = createTasks();
    const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) =>
      turns.run(name.slice(0, 1), task(name)),
    );
    await setImmediate();
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    end('a2');
    await setImmediate();
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
    for (const name of ['a1', 'a3', 'b1']) end(name);
    await setImmediate();
    end('a4');
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
  });

  it('goes on when a task fails', async () => {
    const turns = new Turns();
    const fail = turns.run('a', () => Promise.reject(new Error('no')));
    const next = turns.run('a', async () => 'next');
    await expect(fail).rejects.toThrow('no');
    expect(await next).toBe('next');
  });

  it('lets go of who waits when its signal fires, and of its place', async () => {
    const turns = new Turns();
    const { begun, task, end } = createTasks();
    const { signal, abort } = withAbort();
    const first = turns.run('a', task('first'), signal);
    const second = turns.run('a', task('second'), signal);
    const third = turns.run('a', task('third'));
    abort();
    await expect(second).rejects.toThrow('enough');
    await expect(turns.run('a', task('late'), signal)).rejects.toThrow('enough');
    end('first');
    expect(await first).toBe('first');
    await setImmediate();
    expect(begun).toEqual(['first', 'third']);
    end('third');
    await third;
  });
});

describe('Turns.enter', () => {
  it('starts at once where there is room, and gives a place back once', () => {
    const turns = new Turns();
    const order: string[] = [];
    const leaveA = turns.enter('k', () => order.push('a'));
    const leaveB = turns.enter('k', () => order.push('b'));
    turns.enter('k', () => order.push('c'));
    expect(order).toEqual(['a']);
    leaveA();
    leaveA();
    expect(order).toEqual(['a', 'b']);
    leaveB();
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('passes over one that stopped waiting', () => {
    const turns = new Turns();
    const order: string[] = [];
    const leave = turns.enter('k', () => order.push('a'));
    turns.enter('k', () => order.push('b'))();
    turns.enter('k', () => order.push('c'));
    leave();
    expect(order).toEqual(['a', 'c']);
  });

  it('says whether somebody has a place of a key, or waits for one', () => {
    const turns = new Turns();
    const leaves = [turns.enter('k', () => {}), turns.enter('k', () => {})];
    expect([turns.isBusy('k'), turns.isBusy('other')]).toEqual([true, false]);
    leaves[0]?.();
    expect(turns.isBusy('k')).toBe(true);
    leaves[1]?.();
    expect(turns.isBusy('k')).toBe(false);
  });

  it('does not nest deeper with a long line of tasks that end at once', () => {
    const turns = new Turns();
    let ran = 0;
    const leave = turns.enter('k', () => {});
    for (let i = 0; i < 20_000; i += 1) {
      const leaveMine: () => void = turns.enter('k', () => {
        ran += 1;
        leaveMine();
      });
    }
    leave();
    expect(ran).toBe(20_000);
  });
});

function withAbort() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) };
}
