import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doneOf, eventsOf } from '../fixtures/world.js';
import { DelegatingWorld } from './fixtures/delegating-world.js';
import { answersOf, call, run, start } from './fixtures/steps.js';

let world: DelegatingWorld;
beforeEach(() => {
  world = new DelegatingWorld();
});
afterEach(() => world.close());

const used = { usage: { input: 1_000, output: 0 } };
const PAY = call('pay', { amount: 0 });

/** Runs a turn that is resumed until it has ended, each time by another process. */
async function turnOf(
  talk: Parameters<DelegatingWorld['loop']>[0],
  options: Parameters<DelegatingWorld['loop']>[1],
) {
  const loop = () => world.loop(talk, options);
  let events = await eventsOf(loop().run({ sessionId: 's', prompt: 'main' }));
  const all = [...events];
  while (doneOf(events).end === 'paused') {
    const [approval] = doneOf(events).approvals;
    if (approval === undefined) throw new Error('nothing waits');
    await loop().decide('s', approval, { approved: true });
    events = await eventsOf(loop().resume({ sessionId: 's' }));
    all.push(...events);
  }
  return all;
}

describe('what sub-agents used', () => {
  it('counts when the turn is resumed', async () => {
    const talk = {
      main: [run({ prompt: 'sub' }), PAY, run({ prompt: 'sub' }), PAY, { text: 'never' }],
      sub: [{ text: 'x', ...used }],
    };
    const events = await turnOf(talk, { limits: { maxTokens: 1_900 } });
    expect(doneOf(events)).toMatchObject({ end: 'max_tokens' });
    expect(doneOf(events).usage.inputTokens).toBeGreaterThanOrEqual(2_000);
  });

  it('and how many were begun holds over resumes', async () => {
    const talk = {
      main: [run({ prompt: 'sub' }), PAY, run({ prompt: 'sub' }), { text: 'ready' }],
      sub: [{ text: 'x' }],
    };
    const events = await turnOf(talk, { delegation: { maxTotal: 1 } });
    expect(doneOf(events)).toMatchObject({ end: 'answered' });
    expect(answersOf(events)).toEqual([
      expect.objectContaining({ state: 'done' }),
      expect.stringMatching(/^DELEGATION_LIMIT/),
    ]);
  });

  it('in the background while the turn was paused counts when it is resumed', async () => {
    const loop = world.loop(
      {
        main: [start({ prompt: 'sub' }), PAY, { text: 'ready' }],
        sub: [call('wait'), { text: 'x', ...used }],
      },
      { limits: { maxTokens: 5_000 } },
    );
    const first = await eventsOf(loop.run({ sessionId: 's', prompt: 'main' }));
    expect(doneOf(first).usage.inputTokens).toBeLessThan(1_000);
    while (world.waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const end of world.waiting) end();
    await expect
      .poll(async () => JSON.stringify(await world.sessions.messages('s')))
      .toContain('1000');
    const [approval] = await loop.pending('s');
    if (approval === undefined) throw new Error('nothing waits');
    await loop.decide('s', approval, { approved: true });
    const events = await eventsOf(loop.resume({ sessionId: 's' }));
    expect(doneOf(events)).toMatchObject({ end: 'answered' });
    expect(doneOf(events).usage.inputTokens).toBeGreaterThan(1_000);
  });

  it('after its turn was over harms no session', async () => {
    const loop = world.loop({
      main: [start({ prompt: 'sub' }), { text: 'ready' }],
      sub: [call('wait'), run({ prompt: 'deep' }), { text: 'x', ...used }],
      deep: [{ text: 'deep' }],
      more: [{ text: 'more' }],
    });
    await eventsOf(loop.run({ sessionId: 's', prompt: 'main' }));
    while (world.waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const end of world.waiting) end();
    expect(await loop.ask({ sessionId: 's', prompt: 'more' })).toMatchObject({ text: 'more' });
    await loop.close();
    expect(await world.loop({}).state('s')).toBe('idle');
  });
});
