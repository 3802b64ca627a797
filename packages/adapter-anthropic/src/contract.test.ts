import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import type { CallDecision, SessionResult, ToolSession } from '@ethosagent/core';
import { inCheck, LETTER } from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from './fixtures/messages-api.js';
import { openWorld, PIXEL, type World } from './fixtures/world.js';
import { type AnthropicCallOptions, pendingFor, runToolUse, toAnthropicTools } from './index.js';

// Uses the SDK's own client and tool runner, over HTTP. The runtime, its files and its sessions are
// real.

const READ: Step = [['read_file', { path: 'note.txt' }, 'read']];
const WRITE: Step = [['write_file', { path: 'ledger.txt', content: '' }, 'write']];
const MARKED = /untrusted.*Ignore all previous instructions/s;

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

interface RunOptions extends AnthropicCallOptions {
  signal?: AbortSignal;
  messages?: Anthropic.Beta.BetaMessageParam[];
}

const GO: Anthropic.Beta.BetaMessageParam = { role: 'user', content: 'Go.' };

async function begin(session: ToolSession, steps: readonly Step[], options: RunOptions = {}) {
  const { signal, messages = [GO], ...rest } = options;
  world.api.says(...steps);
  const tools = await toAnthropicTools(session, rest);
  const params = { model: 'scripted', max_tokens: 1000, messages, tools };
  // Wrapped in an object: the runner itself is a promise of its last message.
  return { runner: world.client.beta.messages.toolRunner(params, { signal }) };
}

/** The text of the last message of a run. */
async function run(session: ToolSession, steps: readonly Step[], options: RunOptions = {}) {
  const { runner } = await begin(session, steps, options);
  const { content } = await runner;
  expect(world.api.refusals).toEqual([]);
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join();
}

const told = (id: string) => world.api.told(id);

it('meets the version of the SDK that package.json names', async () => {
  const { session } = world.begin();
  await run(session(), ['Hello.']);
  const entry = createRequire(import.meta.url).resolve('@anthropic-ai/sdk');
  const { version } = JSON.parse(readFileSync(join(dirname(entry), 'package.json'), 'utf8'));
  expect(version).toMatch(/^1\.\d+\.\d+$/);
  expect([...world.api.versions]).toEqual([version]);
});

describe('toAnthropicTools in the tool runner', () => {
  it('gives the model the definitions of the session, as the API takes them', async () => {
    const { session } = world.begin();
    expect(await run(session(), ['Hello.'])).toBe('Hello.');
    const definitions = await session().definitions();
    expect(world.api.offered()).toEqual(definitions.map(({ name }) => name));
    expect(world.api.requests[0]?.tools).toContainEqual(
      expect.objectContaining({
        type: 'custom',
        name: 'read_file',
        description: expect.stringContaining('file'),
        input_schema: definitions.find(({ name }) => name === 'read_file')?.parameters,
      }),
    );
  });

  it('runs the calls of a reply as one batch, in their order', async () => {
    const { session, has } = world.begin();
    const write = (path: string): [string, unknown, string] => [
      'write_file',
      { path, content: path },
      path,
    ];
    // The model had not read the note when it issued the writes.
    const step: Step = [write('a.txt'), ['read_file', { path: 'note.txt' }, 'r'], write('b.txt')];
    expect(await run(session(), [step, 'Done.'])).toBe('Done.');
    expect([has('a.txt'), has('b.txt')]).toEqual([true, true]);
    expect(told('r')?.content).toMatch(MARKED);
    const last = world.api.requests.at(-1)?.messages.at(-1);
    expect(last?.content).toMatchObject([
      { tool_use_id: 'a.txt' },
      { tool_use_id: 'r' },
      { tool_use_id: 'b.txt' },
    ]);
    expect(await session().sources()).toMatchObject([{ source: 'note.txt' }]);
  });

  it('shares the budget of results among the calls of a reply', async () => {
    const { session } = world.begin();
    const long = (id: string): [string, unknown, string] => [
      'picture',
      { caption: 'x'.repeat(3_000) },
      id,
    ];
    await run(session(), [[long('a'), long('b')], 'Done.'], { resultBudgetChars: 2_000 });
    for (const id of ['a', 'b']) {
      const shown = JSON.stringify(told(id)?.content);
      expect(shown).toMatch(/x{600}.*truncated/);
      expect(shown).not.toMatch(/x{1001}/);
    }
  });

  it('tells the model what is wrong with arguments, and goes on', async () => {
    const { session } = world.begin();
    const step: Step = [
      ['write_file', { path: 7, more: true }, 'wrong'],
      ['read_file', { path: '../outside/theirs.txt' }, 'theirs'],
      ['read_file', 'no object', 'text'],
      ['count', {}, 'right'],
    ];
    const results: SessionResult[] = [];
    const onResult = (result: SessionResult) => {
      results.push(result);
      throw new Error('of the program');
    };
    expect(await run(session(), [step, 'Done.'], { onResult })).toBe('Done.');
    expect(told('wrong')).toMatchObject({
      is_error: true,
      content: expect.stringMatching(/^input_invalid: .*path/s),
    });
    expect(told('theirs')).toMatchObject({ is_error: true });
    expect(told('text')).toMatchObject({ is_error: true });
    expect(told('right')).toEqual({ type: 'tool_result', tool_use_id: 'right', content: '1' });
    expect(results.map(({ result }) => (result.ok ? 'ok' : result.cause))).toEqual([
      'INPUT_INVALID',
      'PATH_NOT_REACHABLE',
      'INPUT_INVALID',
      'ok',
    ]);
  });

  it('throws the ToolError of the SDK, with the text that the model reads', async () => {
    const { session } = world.begin();
    const tools = await toAnthropicTools(session());
    const read = tools.find(({ name }) => name === 'read_file');
    const failed = read?.run({ path: 'none.txt' });
    await expect(failed).rejects.toBeInstanceOf(ToolError);
    await expect(failed).rejects.toMatchObject({ content: expect.stringContaining('none.txt') });
  });

  it('shows images as blocks, and keeps structured data for the program', async () => {
    const { session } = world.begin();
    const results: SessionResult[] = [];
    const step: Step = [
      ['picture', {}, 'p'],
      ['picture', { caption: '' }, 'silent'],
    ];
    await run(session(), [step, 'Done.'], { onResult: (result) => results.push(result) });
    const source = { type: 'base64', media_type: 'image/png', data: PIXEL };
    expect(told('p')?.content).toEqual([
      { type: 'text', text: 'a pixel' },
      { type: 'image', source },
    ]);
    // The API refuses an empty text block.
    expect(told('silent')?.content).toEqual([{ type: 'image', source }]);
    expect(results[0]?.result).toMatchObject({ structured: { secret: 7 } });
    expect(JSON.stringify(world.api.requests)).not.toContain('secret');
  });

  it('takes alternatives of arguments, which the API does not take as they are', async () => {
    const { session } = world.begin();
    const step: Step = [
      ['choose', { by: 'name', name: 'ann' }, 'name'],
      ['choose', { by: 'id', name: 'ann' }, 'neither'],
    ];
    expect(await run(session(), [step, 'Done.'])).toBe('Done.');
    expect(told('name')?.content).toBe('{"by":"name","name":"ann"}');
    expect(told('neither')).toMatchObject({ is_error: true });
  });

  it('hands over the attachments', async () => {
    const { session } = world.begin();
    await run(session(), [[['read_letter', {}, 'l']], 'Done.'], { attachments: [LETTER] });
    expect(told('l')?.content).toBe('Dear Ann,');
  });

  it('gives progress to the program', async () => {
    const { session } = world.begin();
    const seen: unknown[] = [];
    await run(session(), [[['count', {}, 'c']], 'Done.'], {
      onProgress: ({ message }, toolCallId) => seen.push([message, toolCallId]),
    });
    expect(seen).toEqual([['counting', 'c']]);
  });

  it('ends a call when the run is aborted, and the run with it', async () => {
    const { session, began } = world.begin();
    const abort = new AbortController();
    const { signal } = abort;
    const running = run(session(), [[['wait', {}, 'w']], 'Done.'], { signal });
    const outcome = expect(running).rejects.toThrow('aborted');
    const seen = await began;
    abort.abort();
    await outcome;
    expect(seen.aborted).toBe(true);
    expect(world.api.requests).toHaveLength(1);
  });

  it('keeps two sessions apart', async () => {
    const { session, has } = world.begin();
    // One after another, since they share the script of the server.
    await run(session('one'), [READ, 'Done.']);
    const write = (path: string): Step => [['write_file', { path, content: '' }, path]];
    await run(session('two'), [write('two.txt'), 'Done.']);
    await run(session('one'), [write('one.txt'), 'Done.']);
    expect([has('one.txt'), has('two.txt')]).toEqual([false, true]);
    expect([
      await session('one').pending(),
      await session('two').pending(),
      await session('two').sources(),
    ]).toMatchObject([[{ toolCallId: 'one.txt' }], [], []]);
  });

  it('keeps two sessions apart that run at once', async () => {
    const { session, counted } = world.begin();
    const steps = Array.from({ length: 6 }, (): Step => [['count', {}]]);
    world.api.says(...steps);
    const runs = ['one', 'two', 'three'].map(async (id) => {
      const seen: string[] = [];
      await run(session(id), [], { onResult: ({ text }) => seen.push(text) });
      return seen;
    });
    const seen = (await Promise.all(runs)).flat();
    expect([...seen].sort()).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(counted()).toBe(6);
  });
});

describe('a write after untrusted content, in the tool runner', () => {
  it('waits, and the model reads that it does', async () => {
    const { session, ledger } = world.begin();
    const waiting: unknown[] = [];
    const onResult = ({ approval }: SessionResult) => waiting.push(approval?.toolCallId);
    expect(await run(session(), [READ, WRITE, 'It waits.'], { onResult })).toBe('It waits.');
    expect(told('read')?.content).toMatch(MARKED);
    expect(told('write')).toMatchObject({
      is_error: true,
      content: expect.stringMatching(/needs approval.*has not run/),
    });
    expect([ledger(), waiting]).toEqual(['invoice 6: 12\n', [undefined, 'write']]);
    // It can still be approved. The answer then goes into another message.
    const [approval] = await session().pending();
    expect(approval).toMatchObject({ reason: expect.stringContaining('note.txt') });
    if (approval !== undefined) await session().decide(approval, { approved: true, by: 'ann' });
    expect(await session().resume()).toMatchObject([{ toolCallId: 'write', result: { ok: true } }]);
    expect(ledger()).toBe('');
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
  ])('takes %s in the body of the loop', async (_, decision, expected, isError) => {
    const { session, ledger } = world.begin();
    const asked: string[] = [];
    const { runner } = await begin(session(), [READ, WRITE, 'Done.']);
    for await (const message of runner) {
      for (const approval of await pendingFor(session(), message)) {
        asked.push(approval.toolCallId);
        expect(approval.reason).toContain('note.txt');
        expect(ledger()).toBe('invoice 6: 12\n');
        await session().decide(approval, decision);
        expect(await pendingFor(session(), message)).toEqual([]);
      }
    }
    expect([asked, ledger(), world.api.refusals]).toEqual([['write'], expected, []]);
    expect(told('write')?.is_error ?? false).toBe(isError);
    if (decision.reason) expect(told('write')?.content).toContain(decision.reason);
    if (decision.args) expect(told('write')?.content).toContain('invoice 7: 40');
    expect(await session().pending()).toEqual([]);
  });

  it('leaves the loop with nothing run, and goes on later, also after a restart', async () => {
    const { session, ledger, counted, restart } = world.begin();
    const step: Step = [
      ['count', {}, 'c'],
      ['write_file', { path: 'ledger.txt', content: '' }, 'write'],
    ];
    const { runner } = await begin(session(), [READ, step]);
    let stored = '';
    for await (const message of runner) {
      if ((await pendingFor(session(), message)).length === 0) continue;
      const { content } = message;
      stored = JSON.stringify([...runner.params.messages, { role: 'assistant', content }]);
      break;
    }
    expect([counted(), world.api.requests.length]).toEqual([0, 2]);
    await restart();
    for (const approval of await session().pending()) {
      await session().decide(approval, { approved: true });
    }
    const messages: Anthropic.Beta.BetaMessageParam[] = JSON.parse(stored);
    const last = messages.at(-1);
    if (last === undefined) throw new Error('no message');
    const answer = await runToolUse(session(), last);
    if (answer.status === 'complete') messages.push(answer.reply);
    expect(await run(session(), ['Done.'], { messages })).toBe('Done.');
    expect([ledger(), counted(), told('write')?.is_error]).toEqual(['', 1, undefined]);
  });

  it.each([
    [true, ''],
    [false, 'invoice 6: 12\n'],
  ])('asks the session while the call waits, which says %j', async (says, expected) => {
    const { session, ledger } = world.begin();
    const asked: string[] = [];
    const approve = ({ toolCallId }: { toolCallId: string }) => {
      asked.push(toolCallId);
      return says;
    };
    expect(await run(session('s', { approve }), [READ, WRITE, 'Done.'])).toBe('Done.');
    expect([asked, ledger()]).toEqual([['write'], expected]);
  });

  it('runs once by a yes, however often the call comes again', async () => {
    const { session, ledger, put } = world.begin();
    await run(session(), [READ, WRITE, 'It waits.']);
    for (const approval of await session().pending()) {
      await session().decide(approval, { approved: true });
    }
    await run(session(), [WRITE, 'Done.']);
    expect(ledger()).toBe('');
    put('ledger.txt', 'again');
    await run(session(), [WRITE, 'Done.']);
    expect([told('write')?.is_error, ledger()]).toEqual([true, 'again']);
  });

  it('does not run other arguments by a yes', async () => {
    const { session, ledger, has } = world.begin();
    await run(session(), [READ, WRITE, 'It waits.']);
    for (const approval of await session().pending()) {
      await session().decide(approval, { approved: true });
    }
    const other: Step = [['write_file', { path: 'other.txt', content: 'theirs' }, 'write']];
    await run(session(), [other, 'Done.']);
    expect([told('write')?.is_error, has('other.txt'), ledger()]).toEqual([
      true,
      false,
      'invoice 6: 12\n',
    ]);
  });

  it('asks about nothing that is not of the session', async () => {
    const { session } = world.begin();
    await run(session(), [READ, 'Done.']);
    const call = (name: string, rest: object = {}) => ({
      type: 'tool_use',
      id: name,
      name,
      input: { path: 'a', content: '' },
      ...rest,
    });
    const content = [call('own_tool'), call('write_file', { toolset_name: 'browser' })];
    expect(await pendingFor(session(), { content })).toEqual([]);
    expect(await pendingFor(session(), { content: 'text' })).toEqual([]);
    // A message that was cut off runs nothing.
    const cut = { content: [call('write_file')], stop_reason: 'max_tokens' };
    expect(await pendingFor(session(), cut)).toEqual([]);
    expect(await session().pending()).toEqual([]);
  });
});

describe('a streaming tool runner', () => {
  const params = async (session: ToolSession) => ({
    model: 'scripted',
    max_tokens: 1000,
    messages: [GO],
    tools: await toAnthropicTools(session),
    stream: true as const,
  });

  it('runs the calls, and takes a yes in the body of the loop', async () => {
    const { session, ledger } = world.begin();
    world.api.says(READ, WRITE, 'Done.');
    const texts: string[] = [];
    for await (const stream of world.client.beta.messages.toolRunner(await params(session()))) {
      stream.on('text', (text) => texts.push(text));
      const message = await stream.finalMessage();
      for (const approval of await pendingFor(session(), message)) {
        await session().decide(approval, { approved: true });
      }
    }
    expect([texts.join(''), ledger(), world.api.refusals]).toEqual(['Done.', '', []]);
    expect(told('read')?.content).toMatch(MARKED);
  });

  it('gates calls that begin while the reply streams', async () => {
    const { session, ledger } = world.begin();
    world.api.says(READ, WRITE, 'It waits.');
    const eager = { ...(await params(session())), runToolsEagerly: true };
    await world.client.beta.messages.toolRunner(eager);
    expect(told('write')).toMatchObject({ is_error: true });
    expect([ledger(), world.api.refusals]).toEqual(['invoice 6: 12\n', []]);
  });

  it('holds back a call that begins while the reply streams, until somebody has decided', async () => {
    const { session, ledger } = world.begin();
    world.api.says(READ, WRITE, 'Done.');
    const eager = { ...(await params(session())), runToolsEagerly: true };
    const running = world.client.beta.messages.toolRunner(eager);
    for await (const stream of running) {
      stream.on('contentBlock', (block) => {
        if (block.type === 'tool_use') running.deferToolCall(block);
      });
      for (const approval of await pendingFor(session(), await stream.finalMessage())) {
        await session().decide(approval, { approved: true });
      }
    }
    expect([ledger(), world.api.refusals]).toEqual(['', []]);
  });
});

describe('what the personality denies, in the tool runner', () => {
  const args = { path: 'ledger.txt', content: '', old_string: 'invoice', new_string: '' };

  const names = ['patch_file', 'Write_File', 'constructor', '__proto__', 'write_file ', 'toString'];
  // `exits.test.ts` tries many spellings.
  it.each(inCheck(names, (name) => ['patch_file', '__proto__'].includes(name)))(
    'is not called as %j',
    async (name) => {
      const { session, ledger, allowOnly } = world.begin();
      allowOnly('read_file');
      expect(await run(session(), [[[name, args, 'denied']], 'Done.'])).toBe('Done.');
      expect(world.api.offered()).toEqual(['read_file']);
      expect(told('denied')).toMatchObject({ is_error: true });
      expect(ledger()).toBe('invoice 6: 12\n');
    },
  );

  it('is not called by what was kept of it', async () => {
    const { session, ledger, allowOnly } = world.begin();
    world.api.says([['write_file', args, 'kept']], 'Done.');
    const tools = await toAnthropicTools(session());
    allowOnly('read_file');
    const kept = { model: 'scripted', max_tokens: 1000, messages: [GO], tools };
    await world.client.beta.messages.toolRunner(kept);
    expect(told('kept')).toMatchObject({ is_error: true });
    await expect(tools[1]?.run(args)).rejects.toBeInstanceOf(ToolError);
    expect(ledger()).toBe('invoice 6: 12\n');
    expect(await session().pending()).toEqual([]);
  });

  it('is what `tools` leaves out, too', async () => {
    const { session, ledger } = world.begin();
    const tools = ['read_file'];
    await run(session(), [[['write_file', args, 'w']], 'Done.'], { tools });
    expect(world.api.offered()).toEqual(['read_file']);
    expect([told('w')?.is_error, ledger()]).toEqual([true, 'invoice 6: 12\n']);
  });
});
