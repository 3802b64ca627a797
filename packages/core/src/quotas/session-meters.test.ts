import { describe, expect, it } from 'vitest';
import { MAX_IDLE_SESSIONS, SessionMeters } from './session-meters.js';

/** Uses `amount` in a call of the session. Returns what the session has used so far. */
function use(meters: SessionMeters, sessionId: string, amount: number): number {
  const { meter, leave } = meters.enter(sessionId);
  meter.add('requests', amount);
  leave();
  return meter.used('requests');
}

describe('SessionMeters', () => {
  it('keeps one meter a session, over calls at once and one after another', () => {
    const meters = new SessionMeters();
    const first = meters.enter('a');
    const second = meters.enter('a');
    expect(second.meter).toBe(first.meter);
    first.leave();
    second.leave();
    expect([use(meters, 'a', 1), use(meters, 'a', 1), use(meters, 'b', 1)]).toEqual([1, 2, 1]);
  });

  it('lets the session go that was quiet longest', () => {
    const meters = new SessionMeters();
    for (let n = 0; n < MAX_IDLE_SESSIONS; n++) use(meters, `s${n}`, 1);
    expect(use(meters, 's0', 1)).toBe(2);
    use(meters, 'one more', 1);
    expect([use(meters, 's0', 0), use(meters, 's1', 0), use(meters, 's2', 0)]).toEqual([2, 0, 0]);
  });

  it('keeps a session in which a call runs, however many others come', () => {
    const meters = new SessionMeters();
    const running = meters.enter('busy');
    running.meter.add('requests', 7);
    meters.enter('busy').leave();
    for (let n = 0; n <= MAX_IDLE_SESSIONS; n++) use(meters, `s${n}`, 1);
    expect(use(meters, 'busy', 0)).toBe(7);
    running.leave();
    expect(use(meters, 'busy', 0)).toBe(7);
  });

  it('forgets a session, also one in which a call runs', () => {
    const meters = new SessionMeters();
    use(meters, 'a', 3);
    meters.forget('a');
    expect(use(meters, 'a', 1)).toBe(1);
    const running = meters.enter('a');
    running.meter.add('requests', 5);
    meters.forget('a');
    expect(use(meters, 'a', 1)).toBe(1);
    running.leave();
    expect(use(meters, 'a', 1)).toBe(2);
    meters.forget('never seen');
  });
});
