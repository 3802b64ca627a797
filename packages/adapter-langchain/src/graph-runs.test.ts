import type { SessionResult } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import { ranBefore, runOnce } from './graph-runs.js';

const call = { toolCallId: 'c', name: 'count', args: { of: 'a' } };
const answer = (text: string, more: Partial<SessionResult> = {}): SessionResult => ({
  toolCallId: 'c',
  name: 'count',
  result: { ok: true, value: text },
  text,
  images: [],
  durationMs: 0,
  ...more,
});

/** A node of a graph that runs each time `run` is called, with the outcome of its call. */
function openTask(id: string, sessionId = 's') {
  let ran = 0;
  return {
    ran: () => ran,
    async run(given: Promise<SessionResult> | SessionResult = answer('done'), args = call.args) {
      const task = { id, run: {}, calls: [] };
      const one = { sessionId, call: { ...call, args } };
      return runOnce(task, one, async () => {
        ran += 1;
        return given;
      });
    },
    isKnown: () => ranBefore({ id, run: {}, calls: [] }, { sessionId, call }),
  };
}

describe('runOnce', () => {
  it('runs a call once, also where it is still under way', async () => {
    const { run, ran } = openTask('under way');
    let end = (_: SessionResult) => {};
    const first = run(new Promise<SessionResult>((resolve) => (end = resolve)));
    const second = run();
    end(answer('first'));
    expect([(await first).text, (await second).text, ran()]).toEqual(['first', 'first', 1]);
  });

  it.each<[string, SessionResult]>([
    ['waits', answer('waits', { approval: JSON.parse('{}') })],
    [
      'was broken off',
      answer('x', {
        result: { ok: false, code: 'execution_failed', error: 'x', cause: 'CALL_ABORTED' },
      }),
    ],
  ])('runs a call again that %s', async (name, given) => {
    const { run, ran, isKnown } = openTask(name);
    await run(given);
    expect(isKnown()).toBe(false);
    expect((await run()).text).toBe('done');
    expect([ran(), isKnown()]).toEqual([2, true]);
  });

  it('keeps what failed or was refused, and forgets what threw', async () => {
    const refused = openTask('refused');
    await refused.run(
      answer('no', {
        result: { ok: false, code: 'not_available', error: 'no', cause: 'NOT_APPROVED' },
      }),
    );
    expect((await refused.run()).text).toBe('no');
    const thrown = openTask('thrown');
    await expect(thrown.run(Promise.reject(new TypeError('no')))).rejects.toThrow(TypeError);
    expect((await thrown.run()).text).toBe('done');
  });

  it('tells sessions, tasks and arguments apart', async () => {
    await openTask('one').run();
    const other = openTask('one', 'other session');
    await other.run();
    const second = openTask('two');
    await second.run();
    const third = openTask('one');
    await third.run(answer('other'), { of: 'b' });
    expect([other.ran(), second.ran(), third.ran()]).toEqual([1, 1, 1]);
  });

  it('forgets the oldest task beyond a number, and beyond a size', async () => {
    const oldest = openTask('oldest');
    await oldest.run();
    for (let count = 0; count < 500; count++) await openTask(`more ${count}`).run();
    expect(oldest.isKnown()).toBe(false);
    const small = openTask('small');
    await small.run();
    const data = 'x'.repeat(6_000_000);
    const images = [{ mediaType: 'image/png', data }];
    for (let count = 0; count < 8; count++) {
      await openTask(`large ${count}`).run(answer('', { images }));
    }
    expect(small.isKnown()).toBe(true);
    await openTask('large 8').run(answer('', { images }));
    await openTask('last').run();
    expect(small.isKnown()).toBe(false);
  });
});
