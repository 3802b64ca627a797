import type Anthropic from '@anthropic-ai/sdk';
import type { CallDecision, SessionResult, ToolSession } from '@ethosagent/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from './fixtures/messages-api.js';
import { openWorld, PIXEL, type World } from './fixtures/world.js';
import { runToolUse, type ToolUseRun, toAnthropicDefinitions } from './index.js';

// Uses the SDK's own client over HTTP. The server refuses a request that lacks a result.

const READ: Step = [['read_file', { path: 'note.txt' }, 'read']];
const COUNT_AND_WRITE: Step = [
  ['count', {}, 'c1'],
  ['write_file', { path: 'ledger.txt', content: '' }, 'write'],
  ['count', {}, 'c2'],
];

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

type Messages = Anthropic.MessageParam[];

/** Asks the model, and adds its answer to the messages. */
async function ask(session: ToolSession, messages: Messages): Promise<Anthropic.Message> {
  const tools = await toAnthropicDefinitions(session);
  const request = { model: 'scripted', max_tokens: 1000, messages, tools };
  const message = await world.client.messages.create(request);
  messages.push({ role: 'assistant', content: message.content });
  return message;
}

/** Continues until the model makes no call, or something waits. */
async function loop(session: ToolSession, steps: readonly Step[], messages: Messages = begin()) {
  world.api.says(...steps);
  for (;;) {
    const message = await ask(session, messages);
    const run = await runToolUse(session, message);
    if (run.status !== 'complete') return { message, messages, run };
    messages.push(run.reply);
  }
}

const begin = (): Messages => [{ role: 'user', content: 'Go.' }];

/** Reads the note. Then two calls run, and one waits. */
async function paused(session: ToolSession) {
  const made = await loop(session, [READ, COUNT_AND_WRITE]);
  if (made.run.status !== 'waiting') throw new Error('nothing waits');
  return made;
}

async function decide(session: ToolSession, run: ToolUseRun, decision: CallDecision) {
  for (const approval of run.waiting) await session.decide(approval, decision);
}

const ids = ({ results }: ToolUseRun) => results.map(({ tool_use_id }) => tool_use_id);

describe('runToolUse', () => {
  it('answers the calls of a message as one batch, in their order', async () => {
    const { session, has } = world.begin();
    const step: Step = [
      ['write_file', { path: 'a.txt', content: 'a' }, 'a'],
      ['read_file', { path: 'note.txt' }, 'r'],
      ['read_file', { path: 7 }, 'wrong'],
      // The model had not read the note yet.
      ['write_file', { path: 'b.txt', content: 'b' }, 'b'],
      ['picture', {}, 'p'],
    ];
    const { run, message } = await loop(session(), [step, 'Done.']);
    expect([run, message.stop_reason]).toEqual([
      { status: 'none', results: [], waiting: [] },
      'end_turn',
    ]);
    expect([has('a.txt'), has('b.txt'), world.api.refusals]).toEqual([true, true, []]);
    expect(world.api.requests.at(-1)?.messages.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: expect.stringContaining('a.txt') },
        {
          type: 'tool_result',
          tool_use_id: 'r',
          content: expect.stringMatching(/untrusted.*Ignore all/s),
        },
        {
          type: 'tool_result',
          tool_use_id: 'wrong',
          content: expect.stringMatching(/^input_invalid: .*path/s),
          is_error: true,
        },
        { type: 'tool_result', tool_use_id: 'b', content: expect.stringContaining('b.txt') },
        {
          type: 'tool_result',
          tool_use_id: 'p',
          content: [
            { type: 'text', text: 'a pixel' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
          ],
        },
      ],
    });
  });

  it('answers what waits beside the results that are there, and has no reply', async () => {
    const { session, ledger, counted } = world.begin();
    const { run } = await paused(session());
    expect(ids(run)).toEqual(['c1', 'c2']);
    expect(run.waiting).toMatchObject([
      { toolCallId: 'write', reason: expect.stringContaining('note.txt') },
    ]);
    expect(run).not.toHaveProperty('reply');
    expect([ledger(), counted()]).toEqual(['invoice 6: 12\n', 2]);
  });

  it('has the server refuse a request that lacks a result', async () => {
    const { session } = world.begin();
    const { messages, run } = await paused(session());
    await expect(
      ask(session(), [...messages, { role: 'user', content: run.results }]),
    ).rejects.toMatchObject({ status: 400 });
  });

  it.each<[string, CallDecision, string, boolean]>([
    ['a yes', { approved: true, by: 'ann' }, '', false],
    ['a no', { approved: false, reason: 'not today' }, 'invoice 6: 12\n', true],
    [
      'an edit',
      { approved: true, args: { path: 'ledger.txt', content: 'invoice 7: 40\n' } },
      'invoice 7: 40\n',
      false,
    ],
  ])('completes the message after %s, and runs the rest once', async (_, decision, text, isNo) => {
    const { session, ledger, counted } = world.begin();
    const { message, messages, run } = await paused(session());
    await decide(session(), run, decision);
    const next = await runToolUse(session(), message, { results: run.results });
    expect([next.status, ids(next), next.waiting]).toEqual(['complete', ['c1', 'write', 'c2'], []]);
    if (next.status === 'complete') messages.push(next.reply);
    const done = await loop(session(), ['Done.'], messages);
    expect([done.run.status, ledger(), counted(), world.api.refusals]).toEqual([
      'none',
      text,
      2,
      [],
    ]);
    expect(world.api.told('write')?.is_error ?? false).toBe(isNo);
    expect(await session().pending()).toEqual([]);
  });

  it('waits as long as nobody has decided, with the same question', async () => {
    const { session, counted } = world.begin();
    const { message, run } = await paused(session());
    const again = await runToolUse(session(), message, { results: run.results });
    expect([again.status, again.waiting, counted()]).toEqual(['waiting', run.waiting, 2]);
  });

  it('goes on after a restart, with messages and results as text', async () => {
    const { session, ledger, counted, restart } = world.begin();
    const { messages, run } = await paused(session());
    const stored = JSON.stringify({ messages, results: run.results });
    await restart();
    for (const approval of await session().pending()) {
      await session().decide(approval, { approved: true });
    }
    const { messages: kept, results }: { messages: Messages; results: typeof run.results } =
      JSON.parse(stored);
    const last = kept.at(-1);
    if (last === undefined) throw new Error('no message');
    const next = await runToolUse(session(), last, { results });
    expect([next.status, ids(next)]).toEqual(['complete', ['c1', 'write', 'c2']]);
    expect([ledger(), counted()]).toEqual(['', 2]);
  });

  it('runs what was approved once, where the message is run twice at once', async () => {
    const { session, counted } = world.begin();
    const { message, run } = await paused(session());
    await decide(session(), run, { approved: true });
    const runs = [1, 2, 3].map(() => runToolUse(session(), message, { results: run.results }));
    const texts = (await Promise.all(runs)).map(({ results }) =>
      results.find(({ tool_use_id }) => tool_use_id === 'write'),
    );
    expect(texts.filter((each) => each !== undefined && !each.is_error)).toHaveLength(1);
    expect(counted()).toBe(2);
  });

  it('does not run other arguments by a yes', async () => {
    const { session, ledger, has } = world.begin();
    const { run } = await paused(session());
    await decide(session(), run, { approved: true });
    const input = { path: 'other.txt', content: 'theirs' };
    const forged = [{ type: 'tool_use', id: 'write', name: 'write_file', input }];
    const answer = await runToolUse(session(), { content: forged });
    expect([answer.status, has('other.txt'), ledger()]).toEqual([
      'waiting',
      false,
      'invoice 6: 12\n',
    ]);
  });

  it('asks the session while the call waits, where it has somebody to ask', async () => {
    const { session, ledger } = world.begin();
    const asking = session('s', { approve: ({ toolCallId }) => toolCallId === 'write' });
    const { run } = await loop(asking, [READ, COUNT_AND_WRITE, 'Done.']);
    expect([run.status, ledger()]).toEqual(['none', '']);
  });

  it('runs no call that has to wait under the id of another', async () => {
    const { session, ledger } = world.begin();
    await loop(session(), [READ, 'Done.']);
    const input = { path: 'ledger.txt', content: '' };
    const content = [
      { type: 'tool_use', id: 'same', name: 'count', input: {} },
      { type: 'tool_use', id: 'same', name: 'write_file', input },
    ];
    for (const blocks of [content, content.toReversed()]) {
      await runToolUse(session(), { content: blocks });
      expect(ledger()).toBe('invoice 6: 12\n');
    }
  });

  it('answers two calls of one id each for itself', async () => {
    const { session } = world.begin();
    world.api.says([
      ['read_file', { path: 7 }, 'same'],
      ['read_file', { path: 'note.txt' }, 'same'],
    ]);
    const run = await runToolUse(session(), await ask(session(), begin()));
    expect(run.results).toMatchObject([
      { tool_use_id: 'same', content: expect.stringMatching(/^input_invalid: /) },
      { tool_use_id: 'same', content: expect.stringContaining('Ignore all') },
    ]);
  });

  it('leaves the tools of the program to it', async () => {
    const { session } = world.begin();
    const messages = begin();
    world.api.says([
      ['own_tool', {}, 'own'],
      ['count', {}, 'c'],
    ]);
    const message = await ask(session(), messages);
    const own = { type: 'tool_result', tool_use_id: 'own', content: 'mine' } as const;
    const run = await runToolUse(session(), message, { results: [own] });
    expect(run).toMatchObject({ status: 'complete', results: [own, { content: '1' }] });
    const without = await runToolUse(session(), message);
    expect(without.results[0]).toMatchObject({
      is_error: true,
      content: expect.stringMatching(/^not_available: .*own_tool/),
    });
  });

  it('does not take a member of a toolset for a tool of that name', async () => {
    const { session, ledger } = world.begin();
    const input = { path: 'ledger.txt', content: '' };
    const call = { type: 'tool_use', id: 'w', name: 'write_file', input, toolset_name: 'browser' };
    expect(await runToolUse(session(), { content: [call] })).toMatchObject({
      status: 'complete',
      results: [{ tool_use_id: 'w', is_error: true, toolset_name: 'browser' }],
    });
    expect(ledger()).toBe('invoice 6: 12\n');
  });

  it.each(['max_tokens', 'refusal', 'model_context_window_exceeded', 'what comes next'])(
    'runs nothing of a message that was cut off by %s',
    async (stop_reason) => {
      const { session, ledger, counted } = world.begin();
      const messages = begin();
      world.api.says({ calls: COUNT_AND_WRITE, stop_reason });
      const run = await runToolUse(session(), await ask(session(), messages));
      expect(run.results).toHaveLength(3);
      for (const each of run.results) {
        expect(each).toMatchObject({
          is_error: true,
          content: expect.stringContaining(stop_reason),
        });
      }
      expect([ledger(), counted()]).toEqual(['invoice 6: 12\n', 0]);
      if (run.status === 'complete') messages.push(run.reply);
      const { run: last } = await loop(session(), ['Done.'], messages);
      expect([last.status, world.api.refusals]).toEqual(['none', []]);
    },
  );

  it('runs nothing of a message that is not over', async () => {
    const { session, counted } = world.begin();
    const content = [{ type: 'tool_use', id: 'c', name: 'count', input: {} }];
    const run = await runToolUse(session(), { content, stop_reason: null });
    expect([run.status, run.results[0]?.is_error, counted()]).toEqual(['complete', true, 0]);
  });

  it.each([
    ['text', 'text'],
    ['nothing', []],
    ['calls of the server', [{ type: 'server_tool_use', id: 'a', name: 'count', input: {} }]],
    ['a call without an id', [{ type: 'tool_use', name: 'count', input: {} }]],
    ['what is no block', JSON.parse('[null, 7, [], "tool_use"]')],
    ['what is no content', JSON.parse('7')],
    ['a call without a name', [{ type: 'tool_use', id: 'a', name: 7 }]],
  ])('runs nothing for %s', async (_, content) => {
    const { session, counted } = world.begin();
    expect(await runToolUse(session(), { content })).toMatchObject({ status: 'none' });
    expect(counted()).toBe(0);
  });

  it('ends the calls that run when it is aborted, and answers them', async () => {
    const { session, began, counted } = world.begin();
    const abort = new AbortController();
    const messages = begin();
    world.api.says([
      ['count', {}, 'c'],
      ['wait', {}, 'w'],
    ]);
    const message = await ask(session(), messages);
    const results: SessionResult[] = [];
    const running = runToolUse(session(), message, {
      signal: abort.signal,
      onResult: (result) => results.push(result),
    });
    const seen = await began;
    abort.abort();
    const run = await running;
    expect([run.status, ids(run), seen.aborted]).toEqual(['complete', ['c', 'w'], true]);
    expect(run.results[1]).toMatchObject({ is_error: true });
    expect(results[1]?.result).toMatchObject({ ok: false, cause: 'CALL_ABORTED' });
    const late = await runToolUse(session(), message, { signal: abort.signal });
    expect(late.results.map(({ is_error }) => is_error)).toEqual([true, true]);
    expect(counted()).toBe(1);
  });

  it('keeps two sessions apart', async () => {
    const { session, has } = world.begin();
    const read = { type: 'tool_use', id: 'r', name: 'read_file', input: { path: 'note.txt' } };
    const write = (path: string) => ({
      content: [{ type: 'tool_use', id: 'w', name: 'write_file', input: { path, content: '' } }],
    });
    await runToolUse(session('one'), { content: [read] });
    const [one, two] = await Promise.all([
      runToolUse(session('one'), write('one.txt')),
      runToolUse(session('two'), write('two.txt')),
    ]);
    expect([one.status, two.status]).toEqual(['waiting', 'complete']);
    expect([has('one.txt'), has('two.txt')]).toEqual([false, true]);
  });

  it('holds the calls to the tools of an option', async () => {
    const { session, counted } = world.begin();
    const content = [{ type: 'tool_use', id: 'c', name: 'count', input: {} }];
    const run = await runToolUse(session(), { content }, { tools: ['read_file'] });
    expect([run.results[0]?.is_error, counted()]).toEqual([true, 0]);
  });
});

describe('toAnthropicDefinitions', () => {
  it('gives each caller a copy of its own', async () => {
    const { session } = world.begin();
    const [first] = await toAnthropicDefinitions(session());
    if (first === undefined) throw new Error('nothing is listed');
    first.input_schema.properties = {};
    first.name = 'other';
    const [again] = await toAnthropicDefinitions(session());
    expect(again?.name).not.toBe('other');
    expect(again?.input_schema.properties).not.toEqual({});
  });

  it('refuses a name that the API refuses, unless the tool is left out', async () => {
    const definitions = async () =>
      ['fine', 'a.b'].map((name) => ({ name, description: '', parameters: {} }));
    await expect(toAnthropicDefinitions({ definitions })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    expect(await toAnthropicDefinitions({ definitions }, { tools: ['fine'] })).toEqual([
      { type: 'custom', name: 'fine', description: '', input_schema: { type: 'object' } },
    ]);
  });
});
