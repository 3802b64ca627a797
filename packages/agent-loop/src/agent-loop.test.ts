import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decideOn } from './fixtures/decide-on.js';
import { doneOf, eventsOf, ofType, World } from './fixtures/world.js';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

describe('AgentLoop', () => {
  it('answers', async () => {
    const events = await eventsOf(
      world.loop([{ deltas: ['Hel', 'lo'] }]).run({ sessionId: 's', prompt: 'Hi' }),
    );
    expect(events).toEqual([
      { type: 'start', sessionId: 's', turn: 1, resumed: false },
      { type: 'step', step: 1 },
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      {
        type: 'usage',
        step: { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, costUsd: 0 },
        turn: { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, costUsd: 0 },
      },
      {
        type: 'done',
        end: 'answered',
        text: 'Hello',
        turn: 1,
        steps: 1,
        calls: 0,
        usage: { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, costUsd: 0 },
        approvals: [],
      },
    ]);
    expect(await world.loop([]).state('s')).toBe('idle');
  });

  it('runs the calls of a step in one batch', async () => {
    const loop = world.loop([
      {
        text: 'Let me see.',
        calls: [
          { name: 'echo', args: { text: 'a' } },
          { name: 'echo', args: { text: 'b' } },
        ],
      },
      { text: 'Done.' },
    ]);
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Hi' }));
    expect(world.ran).toEqual(['echo a', 'echo b']);
    expect(ofType(events, 'tool_start').map(({ args }) => args)).toEqual([
      { text: 'a' },
      { text: 'b' },
    ]);
    expect(ofType(events, 'tool_end').map(({ result }) => result)).toEqual([
      { ok: true, value: 'echo: a' },
      { ok: true, value: 'echo: b' },
    ]);
    expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'Done.', steps: 2, calls: 2 });
  });

  it('pauses for approval, and goes on with it', async () => {
    const first = world.loop([{ calls: [{ name: 'pay', args: { amount: 3 } }] }]);
    const paused = await eventsOf(first.run({ sessionId: 's', prompt: 'Pay' }));
    expect(doneOf(paused)).toMatchObject({
      end: 'paused',
      approvals: [{ toolName: 'pay', args: { amount: 3 } }],
    });
    expect(world.ran).toEqual([]);
    const second = world.loop([{ text: 'Paid.' }]);
    expect(await second.state('s')).toBe('paused');
    const [approval] = await second.pending('s');
    await decideOn(second, 's', { toolCallId: approval?.toolCallId ?? '', approved: true });
    expect(await second.state('s')).toBe('unfinished');
    const resumed = await eventsOf(second.resume({ sessionId: 's' }));
    expect(doneOf(resumed)).toMatchObject({
      end: 'answered',
      text: 'Paid.',
      usage: { costUsd: 0.5 },
    });
    expect(world.ran).toEqual(['pay 3']);
  });

  it('asks before a call with effects once the session has read untrusted content', async () => {
    const loop = world.loop([
      { calls: [{ name: 'fetch_page', args: { url: 'https://e.x/' } }] },
      { calls: [{ name: 'write_note', args: { path: 'a.txt', text: 'x' } }] },
    ]);
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Hi' }));
    expect(doneOf(events)).toMatchObject({
      end: 'paused',
      approvals: [
        {
          toolName: 'write_note',
          reason:
            'the session has read untrusted content, and the call could change something; the untrusted content is from "https://e.x/" (fetch_page)',
        },
      ],
    });
  });
});
