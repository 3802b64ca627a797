import { createInMemorySessionStore, MemoryAuditSink } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { errorCodeOf, type ToolResult } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { doneOf, eventsOf, failingAt, ofType, World } from './fixtures/world.js';

type Call = [name: string, args: unknown];

const said = (result: ToolResult) =>
  result.ok ? result.value : `${result.cause ?? result.code}: ${result.error}`;

/** Makes the calls in its arguments one after another, and returns their results. */
const program = defineTool({
  name: 'program',
  description: 'Makes calls.',
  input: z.object({ calls: z.array(z.tuple([z.string(), z.unknown()])) }),
  capabilities: { calls: { tools: ['echo', 'fetch_page', 'write_note', 'pay'] } },
  outputIsUntrusted: true,
  execute: async ({ calls }, ctx) => {
    const texts: string[] = [];
    for (const [name, args] of calls) {
      texts.push(
        await ctx.calls.call(name, args).then(said, (error) => String(errorCodeOf(error))),
      );
    }
    return ok(texts.join('\n'));
  },
});

const audit = new MemoryAuditSink();
let world: World;
beforeEach(() => {
  audit.calls.length = 0;
  world = new World({ tools: [program], backends: { audit } });
});
afterEach(() => world.close());

const script = (...calls: Call[]) => [
  { calls: [{ id: 'outer', name: 'program', args: { calls } }] },
  { text: 'Done.' },
];
const ECHO: Call = ['echo', { text: 'a' }];
const PAGE: Call = ['fetch_page', { url: 'https://x.example/' }];
const NOTE: Call = ['write_note', { path: 'n', text: 'n' }];
const PAY: Call = ['pay', { amount: 1 }];

async function run(calls: Call[], options: Parameters<World['loop']>[1] = {}) {
  const loop = world.loop(script(...calls), options);
  const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Work' }));
  const [ended] = ofType(events, 'tool_end');
  return { loop, events, text: ended === undefined ? '' : said(ended.result) };
}

describe('a call that a tool of a turn makes', () => {
  it('is a call of the turn, in its journal and in the audit', async () => {
    const { events, text } = await run([ECHO, PAGE]);
    expect(text).toBe('echo: a\na page of https://x.example/');
    expect(doneOf(events)).toMatchObject({ end: 'answered', calls: 3 });
    expect(audit.calls).toMatchObject([
      { toolName: 'echo', parentCallId: 'outer' },
      { toolName: 'fetch_page', parentCallId: 'outer' },
      { toolName: 'program', toolCallId: 'outer' },
    ]);
    const kinds = (await world.sessions.messages('s')).map(({ data }) => String(Object(data).kind));
    expect(kinds).toEqual([
      'user',
      'step',
      'started',
      'inner',
      'inner_result',
      'inner',
      'inner_result',
      'result',
      'step',
      'end',
    ]);
    // Their results are in no message that a model reads.
    const texts = (await world.sessions.messages('s')).filter(({ text }) => text.includes('echo:'));
    expect(texts).toHaveLength(1);
  });

  it('is in the journal without the secrets of its caller', async () => {
    const sender = defineTool({
      name: 'sender',
      description: 'Passes a secret on.',
      input: z.object({}),
      capabilities: { calls: { tools: ['echo'] }, secrets: ['api/key'] },
      execute: async (_, { calls, secretsResolver }) =>
        ok(
          said(await calls.call('echo', { text: `key "${await secretsResolver.get('api/key')}"` })),
        ),
    });
    await world.close();
    const secretsBackend = async () => 'hunter2\nof the caller';
    world = new World({ tools: [sender], backends: { secretsBackend } });
    const loop = world.loop([
      { calls: [{ id: 'outer', name: 'sender', args: {} }] },
      { text: 'Done.' },
    ]);
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Work' }));
    const inner = (await world.sessions.messages('s')).find(
      ({ data }) => Object(data).kind === 'inner',
    );
    expect(inner?.data).toMatchObject({ args: '{"text":"key \\"[secret:api/key]\\""}' });
    expect(JSON.stringify([events, await world.sessions.messages('s')])).not.toContain('hunter2');
  });

  it('is asked about after untrusted content, and refused where nobody answers at once', async () => {
    const { loop, text } = await run([PAGE, NOTE, PAY], { approve: () => 'later' });
    expect(text).toMatch(/write_note needs approval, and it was refused: .* can not wait/);
    expect(text).toMatch(/pay needs approval/);
    expect(world.ran).toEqual(['fetch_page https://x.example/']);
    expect(await loop.state('s')).toBe('idle');
  });

  it('costs and counts for the turn', async () => {
    const { events, text } = await run([PAY, ECHO, ECHO, ECHO], {
      approve: () => true,
      limits: { maxCalls: 3 },
    });
    expect(doneOf(events)).toMatchObject({ usage: { costUsd: 0.5 } });
    expect(text.split('\n').map((line) => line.split(':')[0])).toEqual([
      'paid 1',
      'echo',
      'TURN_LIMIT',
      'TURN_LIMIT',
    ]);
  });

  it.each([
    ['it was about to run', 3, [], /before its result was known/],
    ['it had run', 4, ['pay 1'], /calls of it may have run: pay \{"amount":1\}$/],
    ['two had run', 6, ['pay 1', 'write_note n'], /made have run: pay .* may have run: write_note/],
    ['its result was stored', 7, ['pay 1', 'write_note n'], /made have run: pay .*; write_note/],
  ])('is told of when a store failed as %s, and runs once', async (_, append, ran, told) => {
    const sessions = failingAt(world.sessions, append);
    await run([PAY, NOTE], { approve: () => true, sessions });
    expect(world.ran).toEqual(ran);
    const loop = world.loop([{ text: 'Done.' }], { approve: () => true });
    const events = await eventsOf(loop.resume({ sessionId: 's' }));
    const [ended] = ofType(events, 'tool_end');
    const text = ended === undefined ? '' : said(ended.result);
    expect(text).toContain('CALL_INTERRUPTED');
    expect(text).toMatch(told);
    expect(world.ran).toEqual(ran);
  });
});

describe('a sub-agent', () => {
  it('keeps to its tools also in the calls that they make', async () => {
    const { narrowTools } = await import('./delegation/narrow-tools.js');
    const { registryTools } = await import('./registry-tools.js');
    const all = registryTools(world.registry, world.personality, { workingDir: world.folder });
    const tools = narrowTools(all, ['program', 'echo'], 'top');
    const { text } = await run([ECHO, NOTE], { tools, sessions: createInMemorySessionStore() });
    expect(text).toMatch(/^echo: a\nTOOL_NOT_ALLOWED: write_note is not among the tools/);
    expect(audit.calls.map(({ parentCallId }) => parentCallId)).toEqual([
      'outer',
      'outer',
      undefined,
    ]);
  });
});
