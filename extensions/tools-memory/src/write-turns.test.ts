import { describe, expect, it } from 'vitest';
import { inTurn } from './write-turns.js';

const never = new AbortController().signal;
const forever = () => new Promise<never>(() => {});

describe('inTurn', () => {
  it('runs one after the other, in their order', async () => {
    let running = 0;
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        // Each write has a signal of its own, as calls have.
        inTurn(new AbortController().signal, async () => {
          running += 1;
          expect(running).toBe(1);
          await new Promise((resolve) => setTimeout(resolve, 1));
          order.push(at);
          running -= 1;
        }),
      ),
    );
    expect(order).toEqual(Array.from({ length: 20 }, (_, at) => at));
  });

  it('goes on after one that fails, and gives what each gave', async () => {
    const failing = inTurn(never, () => Promise.reject(new Error('mine')));
    const next = inTurn(never, async () => 'next');
    await expect(failing).rejects.toThrow('mine');
    expect(await next).toBe('next');
  });

  it('goes on after one that hangs', async () => {
    void inTurn(never, forever, 20);
    expect(await inTurn(never, async () => 'next')).toBe('next');
  });

  it('lets one that is aborted while it waits go, and the others on', async () => {
    const controller = new AbortController();
    void inTurn(never, forever, 50);
    const given = inTurn(controller.signal, async () => expect.unreachable());
    const next = inTurn(never, async () => 'next');
    controller.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    expect(await next).toBe('next');
  });

  it('begins nothing for a turn that was aborted before', async () => {
    const run = inTurn(AbortSignal.abort(new Error('over')), async () => expect.unreachable());
    await expect(run).rejects.toThrow('over');
  });
});
