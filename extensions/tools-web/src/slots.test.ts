import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Slots } from './slots.js';

const never = new AbortController().signal;

/** Requests that end when they are told to. */
function createRequests() {
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  const request = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
  };
  return { begun, request, end: (name: string) => ends.get(name)?.() };
}

describe('Slots', () => {
  it('runs as many at a time as it may, the others in order, and each host by itself', async () => {
    const slots = new Slots(2);
    const { begun, request, end } = createRequests();
    const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) =>
      slots.run(name.slice(0, 1), never, request(name)),
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

  it('gives a slot back when a request fails', async () => {
    const slots = new Slots(1);
    const fail = slots.run('a', never, () => Promise.reject(new Error('no')));
    await expect(fail).rejects.toThrow('no');
    expect(await slots.run('a', never, async () => 'next')).toBe('next');
  });

  it('lets go of who waits when its signal fires, and of its place', async () => {
    const slots = new Slots(1);
    const { begun, request, end } = createRequests();
    const turn = new AbortController();
    const first = slots.run('a', never, request('first'));
    const second = slots.run('a', turn.signal, request('second'));
    const third = slots.run('a', never, request('third'));
    turn.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await expect(slots.run('a', turn.signal, request('late'))).rejects.toThrow('enough');
    end('first');
    await first;
    await setImmediate();
    expect(begun).toEqual(['first', 'third']);
    end('third');
    await third;
  });
});
