import { describe, expect, it } from 'vitest';
import { CallLog } from './call-log.js';
import { callEvents } from './fixtures/inspected-home.js';
import type { HeldEvent } from './inspect-api.js';

const held = (events: ReturnType<typeof callEvents>, from = 1): HeldEvent[] =>
  events.map((event, index) => ({ id: from + index, log: 'l', seq: from + index, event }));

describe('CallLog', () => {
  it('puts a call together from its accesses and its answer', () => {
    const log = new CallLog();
    const [access, call] = held(callEvents(1));
    if (access === undefined || call === undefined) throw new Error('there are two events');
    expect(log.add([access])).toMatchObject([{ id: 1, accesses: 1, denied: 0 }]);
    expect(log.newest()[0]?.endedAt).toBeUndefined();
    const [row] = log.add([call]);
    expect(row).toMatchObject({
      id: 1,
      outcome: 'ok',
      durationMs: 50,
      costUsd: 0.0125,
      accesses: 1,
    });
    expect(row?.endedAt).toBe(Number(row?.startedAt) + 50);
    expect(log.newest()).toHaveLength(1);
  });

  it('takes a later call with the same id for another one', () => {
    const log = new CallLog();
    log.add(held(callEvents(1)));
    log.add(held(callEvents(1), 3));
    expect(log.newest().map(({ id }) => id)).toEqual([3, 1]);
  });

  it('keeps the same id of two sessions, or two tools, apart', () => {
    const log = new CallLog();
    const [access] = callEvents(1);
    if (access === undefined) throw new Error('there is an access');
    log.add(held([access, { ...access, sessionId: 'other' }, { ...access, toolName: 'other' }]));
    expect(log.newest()).toHaveLength(3);
  });

  it('lets the oldest go', () => {
    const log = new CallLog(10);
    log.add(held(callEvents(25)));
    expect(log.newest().map(({ toolCallId }) => toolCallId)).toEqual(
      Array.from({ length: 10 }, (_, index) => `call-${24 - index}`),
    );
  });

  it('holds only so many calls that never get an answer', () => {
    const log = new CallLog();
    const accesses = callEvents(3_000).filter((event) => !('kind' in event));
    log.add(held(accesses));
    expect(log.newest()).toHaveLength(3_000);
    expect(log.newest(5).map(({ toolCallId }) => toolCallId)[0]).toBe('call-2999');
  });
});
