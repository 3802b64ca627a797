import { expect, it } from 'vitest';
import { type SessionWorld, user } from './session-world.js';

/** Where the time of a message is from. */
export function clockTests(w: SessionWorld): void {
  it('takes the time of a message without one from the clock', async () => {
    const session = w.fresh();
    w.now += 60_000;
    const [message] = await w.store.append(session, [user('x')]);
    expect(message?.createdAt).toBe(w.now);
  });
}
