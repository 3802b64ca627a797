import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import type { SessionStore } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from './fixtures/scripted-model.js';
import { doneOf, eventsOf, ofType, World } from './fixtures/world.js';

const report = defineTool({
  name: 'report',
  description: 'Reports, word for word.',
  input: z.object({ fail: z.boolean().optional() }),
  capabilities: {},
  returnDirect: true,
  outputIsUntrusted: true,
  execute: async ({ fail }) => (fail ? err('no report') : ok('the report')),
});
const REPORT = { name: 'report', args: {} };

let world: World;
beforeEach(() => {
  world = new World({ tools: [report] });
});
afterEach(() => world.close());

describe('a tool that returns directly', () => {
  it('ends the turn with its value, and no model is asked again', async () => {
    const model = scriptedModel([{ text: 'One moment.', calls: [REPORT] }, { text: 'more' }]);
    const events = await eventsOf(world.loop(model).run({ sessionId: 's', prompt: 'Go' }));
    expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'the report', steps: 1 });
    expect(ofType(events, 'text').at(-1)).toEqual({ type: 'text', text: 'the report' });
    expect(model.doStreamCalls).toHaveLength(1);
  });

  it('is no word of the model: the next turn reads it marked, as what a tool gave', async () => {
    const model = scriptedModel([
      { calls: [REPORT] },
      { calls: [{ name: 'write_note', args: { path: 'a.txt', text: 'x' } }] },
    ]);
    const loop = world.loop(model);
    await loop.ask({ sessionId: 's', prompt: 'Go' });
    expect(await loop.ask({ sessionId: 's', prompt: 'Note it' })).toMatchObject({ end: 'paused' });
    const prompt = model.doStreamCalls[1]?.prompt ?? [];
    const said = prompt.filter(({ role }) => role === 'assistant');
    expect(JSON.stringify(said)).not.toContain('the report');
    expect(JSON.stringify(prompt)).toContain('<untrusted source=');
    expect(world.ran).toEqual([]);
  });

  it('goes on where it fails', async () => {
    const script = [{ calls: [{ name: 'report', args: { fail: true } }] }, { text: 'sorry' }];
    const done = await world.loop(script).ask({ sessionId: 's', prompt: 'Go' });
    expect(done).toMatchObject({ end: 'answered', text: 'sorry', steps: 2 });
  });

  it('ends the turn once every call of the step has its answer', async () => {
    const echo = { name: 'echo', args: { text: 'a' } };
    const pay = { name: 'pay', args: { amount: 1 } };
    const loop = world.loop([{ calls: [echo, REPORT, pay] }, { text: 'more' }]);
    const { end, approvals } = await loop.ask({ sessionId: 's', prompt: 'Go' });
    expect(end).toBe('paused');
    const [approval] = approvals;
    if (approval === undefined) throw new Error('nothing was asked');
    await loop.decide('s', approval, { approved: true });
    const events = await eventsOf(loop.resume({ sessionId: 's' }));
    expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'the report', steps: 1 });
    expect(world.ran).toEqual(['echo a', 'pay 1']);
  });

  it('is the answer also where the turn broke off before it was written down', async () => {
    const { sessions } = world;
    let breaks = true;
    const append: SessionStore['append'] = (ref, messages, options) => {
      if (breaks && messages.some(({ data }) => Object(data).kind === 'end')) {
        breaks = false;
        throw new Error('the disk is full');
      }
      return sessions.append(ref, messages, options);
    };
    const broken: SessionStore = Object.create(sessions, { append: { value: append } });
    const model = scriptedModel([{ calls: [REPORT] }, { text: 'more' }]);
    const first = await world
      .loop(model, { sessions: broken })
      .ask({ sessionId: 's', prompt: 'Go' });
    expect(first.end).toBe('failed');
    const again = await eventsOf(world.loop(model).resume({ sessionId: 's' }));
    expect(doneOf(again)).toMatchObject({ end: 'answered', text: 'the report', steps: 1 });
    expect(model.doStreamCalls).toHaveLength(1);
  });
});
