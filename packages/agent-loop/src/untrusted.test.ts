import { sourceOf, untrustedGate } from '@ethosagent/core';
import type { PersonalityConfig, ToolEffect, UntrustedPolicy } from '@ethosagent/types';
import { afterEach, describe, expect, it } from 'vitest';
import type { ScriptedStep } from './fixtures/scripted-model.js';
import { doneOf, eventsOf, World } from './fixtures/world.js';

let world: World | undefined;
afterEach(() => {
  world?.close();
  world = undefined;
});

function worldWith(untrusted: UntrustedPolicy | undefined): World {
  const safety: PersonalityConfig['safety'] = untrusted === undefined ? {} : { untrusted };
  world = new World({ safety });
  return world;
}

const READ: ScriptedStep = { calls: [{ name: 'fetch_page', args: { url: 'https://e.x/' } }] };
const WRITE: ScriptedStep = { calls: [{ name: 'write_note', args: { path: 'a.txt', text: 'x' } }] };
const BOTH: ScriptedStep = { calls: [...(READ.calls ?? []), ...(WRITE.calls ?? [])] };

describe('after untrusted content', () => {
  it.each<[string, UntrustedPolicy | undefined, ScriptedStep[], string]>([
    ['nothing else is said', undefined, [READ, WRITE], 'paused'],
    ['the policy says ask', { write: 'ask' }, [READ, WRITE], 'paused'],
    ['the policy allows to send only', { send: 'allow' }, [READ, WRITE], 'paused'],
    ['the policy allows to write', { write: 'allow' }, [READ, WRITE], 'wrote'],
    ['the policy denies to write', { write: 'deny' }, [READ, WRITE], 'refused'],
    ['the tool is trusted', { trust: ['fetch_page'] }, [READ, WRITE], 'wrote'],
    ['its group is trusted', { trust: ['web'] }, [READ, WRITE], 'wrote'],
    ['another tool is trusted', { trust: ['write_note'] }, [READ, WRITE], 'paused'],
    ['none was read yet', { write: 'deny' }, [WRITE, READ], 'wrote'],
    ['it is read in the same step', undefined, [BOTH], 'wrote'],
    [
      'the policy says what there is none of',
      JSON.parse('{"write":"yes"}'),
      [READ, WRITE],
      'paused',
    ],
  ])('a call that writes, when %s', async (_name, policy, script, how) => {
    const asked = worldWith(policy);
    const events = await eventsOf(asked.loop(script).run({ sessionId: 's', prompt: 'Go' }));
    expect(doneOf(events).end).toBe(how === 'paused' ? 'paused' : 'answered');
    expect(asked.ran.includes('write_note x')).toBe(how === 'wrote');
  });

  it('asks in every later turn too, also in another process', async () => {
    const { ran } = worldWith(undefined);
    await world?.loop([READ]).ask({ sessionId: 's', prompt: 'Read' });
    const later = await world?.loop([WRITE]).ask({ sessionId: 's', prompt: 'Write' });
    expect(later).toMatchObject({ end: 'paused', turn: 2 });
    expect(await world?.loop([WRITE]).ask({ sessionId: 'new', prompt: 'Write' })).toMatchObject({
      end: 'answered',
    });
    expect(ran).toHaveLength(2);
  });

  it('asks from the beginning of a turn whose prompt is untrusted', async () => {
    worldWith(undefined);
    const done = await world
      ?.loop([WRITE])
      .ask({ sessionId: 's', prompt: 'A mail', untrusted: true });
    expect(done).toMatchObject({ end: 'paused' });
  });

  it('asks after an answer that has sources of the provider', async () => {
    worldWith(undefined);
    const source = { type: 'source', sourceType: 'url', id: '1', url: 'https://e.x/' } as const;
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    };
    const call = {
      type: 'tool-call',
      toolCallId: 'w',
      toolName: 'write_note',
      input: '{"path":"a.txt","text":"x"}',
    } as const;
    const finish = {
      type: 'finish',
      finishReason: { unified: 'tool-calls', raw: '' },
      usage,
    } as const;
    const done = await world
      ?.loop([{ parts: [{ type: 'stream-start', warnings: [] }, source, call, finish] }])
      .ask({ sessionId: 's', prompt: 'Hi' });
    expect(done).toMatchObject({ end: 'paused' });
  });

  it('does not mark or count what the framework answered', async () => {
    worldWith({ write: 'deny' });
    const wrong: ScriptedStep = { calls: [{ name: 'fetch_page', args: { url: 1 } }] };
    const done = await world?.loop([wrong, WRITE]).ask({ sessionId: 's', prompt: 'Hi' });
    expect(done).toMatchObject({ end: 'answered' });
    expect(world?.ran).toEqual(['write_note x']);
  });
});

describe('untrustedGate', () => {
  it.each<[ToolEffect[], UntrustedPolicy, object | undefined]>([
    [[], {}, undefined],
    [['write'], { write: 'allow' }, undefined],
    [['write', 'send'], { write: 'allow' }, { ask: expect.stringContaining('send something out') }],
    [
      ['send', 'spawn'],
      { send: 'allow', spawn: 'deny' },
      { refuse: expect.stringContaining('run programs') },
    ],
    [
      ['write', 'spawn'],
      { write: 'deny' },
      { refuse: expect.stringContaining('change something') },
    ],
    [['write', 'send', 'spawn'], {}, { ask: expect.stringContaining('change something and send') }],
  ])('%j under %j', (effects, policy, expected) => {
    const tool = {
      name: 't',
      description: '',
      schema: {},
      capabilities: {},
      effects,
      execute: fails,
    };
    expect(untrustedGate(tool, policy)).toEqual(expected);
  });

  it('takes a tool that nobody knows for one that does everything', () => {
    expect(untrustedGate(undefined, { write: 'allow', send: 'allow' })).toHaveProperty('ask');
  });
});

describe('sourceOf', () => {
  it.each<[unknown, string]>([
    [{ url: 'https://e.x/' }, 'https://e.x/'],
    [{ query: 'q', path: '/a' }, '/a'],
    [{ url: '' }, 'tool'],
    [{ url: 7 }, 'tool'],
    [{}, 'tool'],
    [[], 'tool'],
    [null, 'tool'],
    [Object.create({ url: 'inherited' }), 'tool'],
  ])('%j is %s', (args, source) => {
    expect(sourceOf('tool', args)).toBe(source);
  });
});

function fails(): never {
  throw new Error('it is not to run');
}
