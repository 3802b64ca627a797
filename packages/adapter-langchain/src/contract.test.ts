import { createRequire } from 'node:module';
import type { CallDecision, ToolSession } from '@ethosagent/core';
import { inCheck, isLongRun, LETTER } from '@ethosagent/test-support';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { FakeBuiltModel } from '@langchain/core/testing';
import { Command, INTERRUPT, MemorySaver } from '@langchain/langgraph';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AGENTS,
  type Agent,
  type AgentState,
  type Step,
  scriptedModel,
} from './fixtures/agents.js';
import { openWorld, PIXEL, type World } from './fixtures/world.js';
import {
  answerInterrupts,
  isToolInterrupt,
  type LangchainToolsOptions,
  type ToolInterrupt,
  toLangchainTools,
} from './index.js';

// Uses the framework's own agents, its fake model and its checkpointer. The runtime, its files and
// its sessions are real.

const READ: Step = [['read_file', { path: 'note.txt' }, 'read']];
const WRITE: Step = [['write_file', { path: 'ledger.txt', content: '' }, 'write']];
const GO = { messages: [new HumanMessage('Go.')] };
const UNTOUCHED = 'invoice 6: 12\n';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

it('meets version 1 of the framework, on Node 20.19 or later', () => {
  const resolve = createRequire(import.meta.url);
  for (const name of ['@langchain/core', '@langchain/langgraph', 'langchain']) {
    expect(resolve(`${name}/package.json`).version).toMatch(/^1\./);
  }
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  expect(major > 20 || (major === 20 && minor >= 19)).toBe(true);
});

/** What the model was told about a call. */
function told(model: FakeBuiltModel, id: string): ToolMessage | undefined {
  const messages = model.calls.at(-1)?.messages ?? [];
  return messages.find(
    (message): message is ToolMessage =>
      ToolMessage.isInstance(message) && message.tool_call_id === id,
  );
}

const questions = (state: AgentState): ToolInterrupt[] =>
  (state[INTERRUPT] ?? []).flatMap(({ value }) => (isToolInterrupt(value) ? [value] : []));

// They run tools through the same node of the graph. What differs is whether each call has a task of
// its own: so a check tries several calls of one step in an agent of each kind, and the rest in one.
const ofEachKind = ['a graph with a ToolNode', 'createAgent'];
const agents = inCheck(Object.entries(AGENTS), ([kind]) => ofEachKind.includes(kind));

describe.each(agents)('toLangchainTools in %s', (kind, makeAgent) => {
  const hasTaskForEachCall = kind === 'createAgent';
  const isWhole = hasTaskForEachCall || isLongRun();
  let threads = 0;

  async function begin(
    session: ToolSession,
    steps: readonly Step[],
    options: LangchainToolsOptions = {},
  ) {
    const model = scriptedModel(...steps);
    const tools = await toLangchainTools(session, options);
    const agent = makeAgent({ model, tools, checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: `${++threads}` } };
    return { model, tools, agent, config, state: await agent.invoke(GO, config) };
  }

  type Begun = Awaited<ReturnType<typeof begin>>;

  const resume = (agent: Agent, config: Begun['config'], value: unknown) =>
    agent.invoke(new Command({ resume: value }), config);

  /** Answers all questions, including the ones that follow. */
  async function answer(
    { agent, config, state }: Begun,
    decide: (asked: ToolInterrupt) => CallDecision,
  ): Promise<AgentState> {
    let now = state;
    while (questions(now).length > 0) {
      now = await resume(agent, config, await answerInterrupts(now, decide));
    }
    return now;
  }

  const said = ({ messages }: AgentState) => messages.at(-1)?.text;

  /** Reads the note, and asks about the write. */
  async function interrupted(session: ToolSession, ...rest: Step[]) {
    const begun = await begin(session, [READ, WRITE, ...rest, 'Done.'], { by: 'ann' });
    const [asked, ...others] = questions(begun.state);
    if (asked === undefined) throw new Error('nothing was asked');
    expect(others).toEqual([]);
    return { ...begun, asked };
  }

  it.runIf(isWhole).each(['true', 'null', '{"aproved":true}', '{"approved":"yes"}'])(
    'takes no %s for a decision on an interrupt',
    async (text) => {
      const { session } = world.begin();
      const { state } = await interrupted(session());
      const answers = answerInterrupts(state, () => JSON.parse(text));
      await expect(answers).rejects.toMatchObject({
        code: 'APPROVAL_INVALID',
        message: expect.stringContaining('write_file'),
      });
    },
  );

  it.runIf(isWhole)('runs several tools of one step, in their order', async () => {
    const { session, has } = world.begin();
    const { model, state } = await begin(session(), [
      [
        ['write_file', { path: 'a.txt', content: 'a' }, 'a'],
        ['steps', {}, 'b'],
        ['write_file', { path: 'c.txt', content: 'c' }, 'c'],
      ],
      'Done.',
    ]);
    expect(said(state)).toBe('Done.');
    const ids = state.messages.flatMap((each) =>
      ToolMessage.isInstance(each) ? each.tool_call_id : [],
    );
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(told(model, 'b')).toMatchObject({ content: 'there', status: 'success', name: 'steps' });
    expect([has('a.txt'), has('c.txt')]).toEqual([true, true]);
  });

  it.runIf(isWhole)('tells the model of wrong arguments in the words of the session', async () => {
    const { session } = world.begin();
    const { model, state } = await begin(session(), [
      [
        ['write_file', { path: 7, more: true }, 'wrong'],
        ['steps', {}, 'right'],
      ],
      'Done.',
    ]);
    expect(said(state)).toBe('Done.');
    expect(told(model, 'wrong')).toMatchObject({
      status: 'error',
      content: expect.stringMatching(/^input_invalid: .*path/s),
      artifact: { ok: false, code: 'input_invalid' },
    });
    expect(told(model, 'right')).toMatchObject({ content: 'there' });
  });

  it.runIf(isWhole)('tells the model what the personality refuses, and goes on', async () => {
    const { session } = world.begin();
    const { model, state } = await begin(session(), [
      [['read_file', { path: '../outside/theirs.txt' }, 'theirs']],
      'Done.',
    ]);
    expect(told(model, 'theirs')).toMatchObject({
      status: 'error',
      name: 'read_file',
      content: expect.not.stringContaining('fix your mistakes'),
      artifact: { ok: false, cause: 'PATH_NOT_REACHABLE' },
    });
    expect(said(state)).toBe('Done.');
  });

  it.runIf(isWhole)('shows images, and keeps structured data for the program', async () => {
    const { session } = world.begin();
    const step: Step = [['picture', {}, 'p']];
    const { model } = await begin(session(), [step, 'Done.']);
    expect(told(model, 'p')).toMatchObject({
      content: [
        { type: 'text', text: 'a pixel' },
        { type: 'image', mimeType: 'image/png', data: PIXEL },
      ],
      artifact: { ok: true, structured: { secret: 7 }, costUsd: 0.5 },
    });
    expect(JSON.stringify(told(model, 'p')?.content)).not.toContain('secret');
    expect(JSON.stringify(told(model, 'p')?.artifact)).not.toContain(PIXEL);
    const without = await begin(session(), [step, 'Done.'], { images: false });
    expect(told(without.model, 'p')).toMatchObject({
      content: 'a pixel\n[images of this result are left out: this model takes none]',
      artifact: { structured: { images: [{ mediaType: 'image/png', data: PIXEL }] } },
    });
  });

  it('hands over the attachments', async () => {
    const { session } = world.begin();
    const steps: Step[] = [[['read_letter', {}, 'l']], 'Done.'];
    const { model } = await begin(session(), steps, { attachments: [LETTER] });
    expect(told(model, 'l')?.content).toBe('Dear Ann,');
  });

  it.runIf(isWhole)('gives progress for users', async () => {
    const { session } = world.begin();
    const seen: unknown[] = [];
    await begin(session(), [[['steps', {}, 'a']], 'Done.'], {
      onProgress: ({ message }, toolCallId) => seen.push([message, toolCallId]),
    });
    expect(seen).toEqual([['half-way', 'a']]);
  });

  it('ends a call when the run is aborted, and the run with it', async () => {
    const { session, began } = world.begin();
    const model = scriptedModel([['wait', {}]], 'Done.');
    const tools = await toLangchainTools(session());
    const agent = makeAgent({ model, tools });
    const abort = new AbortController();
    const beginning = began();
    const running = agent.invoke(GO, { signal: abort.signal });
    const outcome = expect(running).rejects.toThrow(/abort/i);
    const signal = await beginning;
    abort.abort();
    await outcome;
    expect(signal.aborted).toBe(true);
    expect(model.callCount).toBe(1);
  });

  it.runIf(isWhole)('leaves another session as it was', async () => {
    const { session, has } = world.begin();
    const [tainted, other] = await Promise.all([
      begin(session('one'), [READ, [['write_file', { path: 'one.txt', content: '' }]]]),
      begin(session('two'), [[['write_file', { path: 'two.txt', content: '' }]], 'Done.']),
    ]);
    expect([questions(tainted.state).length, said(other.state)]).toEqual([1, 'Done.']);
    expect([has('one.txt'), has('two.txt')]).toEqual([false, true]);
  });

  describe.runIf(isWhole)('after untrusted content', () => {
    it('marks it, and interrupts before a write, with what the session knows', async () => {
      const { session, ledger } = world.begin();
      const { model, asked } = await interrupted(session());
      expect(told(model, 'read')?.content).toMatch(/untrusted.*Ignore all previous/s);
      expect(asked).toMatchObject({
        type: 'tool_approval',
        toolCallId: 'write',
        toolName: 'write_file',
        args: { path: 'ledger.txt', content: '' },
        reason: expect.stringContaining('note.txt'),
      });
      expect(await session().pending()).toMatchObject([{ question: asked.question }]);
      expect(ledger()).toBe(UNTOUCHED);
    });

    it('runs after a yes, and the record says whose it was', async () => {
      const { session, ledger } = world.begin();
      const begun = await interrupted(session());
      expect(said(await answer(begun, () => ({ approved: true })))).toBe('Done.');
      expect(told(begun.model, 'write')?.status).toBe('success');
      expect([ledger(), await session().pending()]).toEqual(['', []]);
    });

    it('does not run after a no, and the model reads why', async () => {
      const { session, ledger } = world.begin();
      const begun = await interrupted(session());
      const state = await answer(begun, () => ({ approved: false, reason: 'not today' }));
      expect(said(state)).toBe('Done.');
      expect(told(begun.model, 'write')).toMatchObject({
        status: 'error',
        content: expect.stringContaining('not today'),
      });
      expect([ledger(), await session().pending()]).toEqual([UNTOUCHED, []]);
    });

    it('runs with other arguments after an edit, and the model reads them', async () => {
      const { session, ledger } = world.begin();
      const begun = await interrupted(session());
      const args = { path: 'ledger.txt', content: 'invoice 7: 40\n' };
      await answer(begun, () => ({ approved: true, args }));
      expect(ledger()).toBe('invoice 7: 40\n');
      expect(told(begun.model, 'write')?.content).toContain('invoice 7: 40');
    });

    it('asks again after an edit that the tool does not take, and the last answer counts', async () => {
      const { session, ledger } = world.begin();
      const { agent, config, asked, model } = await interrupted(session());
      const { question } = asked;
      for (const args of [{ path: 7 }, null, { content: '' }]) {
        const again = await resume(agent, config, { question, approved: true, args });
        expect(questions(again)).toMatchObject([{ question, problem: expect.any(String) }]);
      }
      const last = await resume(agent, config, { question, approved: false });
      expect(said(last)).toBe('Done.');
      expect(told(model, 'write')?.status).toBe('error');
      expect(ledger()).toBe(UNTOUCHED);
    });

    it('reaches no more after an edit than without one', async () => {
      const { session, has } = world.begin();
      const { agent, config, model, asked } = await interrupted(session());
      const { question } = asked;
      const args = { path: '../outside/new.txt', content: '' };
      const again = await resume(agent, config, { question, approved: true, args });
      expect(questions(again)).toMatchObject([
        { question, problem: expect.stringContaining('PATH_NOT_REACHABLE') },
      ]);
      await resume(agent, config, { question, approved: false });
      expect(told(model, 'write')?.status).toBe('error');
      expect(has('../outside/new.txt')).toBe(false);
    });

    it('is a grant of the session after a yes for all', async () => {
      const { session, ledger } = world.begin();
      const more: Step = [['write_file', { path: 'ledger.txt', content: 'two' }, 'second']];
      const begun = await interrupted(session(), more);
      let asked = 0;
      const state = await answer(begun, () => {
        asked += 1;
        return { approved: true, always: 'session', by: 'bob' };
      });
      expect([said(state), asked, ledger()]).toEqual(['Done.', 1, 'two']);
      expect(await session().grants()).toMatchObject([{ toolName: 'write_file', by: 'bob' }]);
    });

    it('takes the word of the session alone, whatever the run is resumed with', async () => {
      const { session, ledger } = world.begin();
      const { agent, config, asked } = await interrupted(session());
      await session().decide(asked, { approved: true });
      expect(said(await resume(agent, config, 'go on'))).toBe('Done.');
      expect(ledger()).toBe('');
    });

    it('does not run where the session says no and the run yes', async () => {
      const { session, ledger } = world.begin();
      const begun = await interrupted(session());
      await session().decide(begun.asked, { approved: false, reason: 'no' });
      await answer(begun, () => ({ approved: true }));
      expect(told(begun.model, 'write')?.status).toBe('error');
      expect(ledger()).toBe(UNTOUCHED);
    });

    const noAnswers: [string, (asked: ToolInterrupt) => unknown][] = [
      ['true', () => true],
      ['a yes to no question', () => ({ approved: true })],
      [
        'a yes to another question',
        ({ question }) => ({ question: `${question}x`, approved: true }),
      ],
      ['an invalid yes', ({ question }) => ({ question, approved: 'true' })],
      ['the question itself', (asked) => asked],
      ['a yes in a list', ({ question }) => [{ question, approved: true }]],
      [
        'a yes for what nobody knows',
        ({ question }) => ({ question, approved: true, always: 'ever' }),
      ],
      ['a no with arguments', ({ question, args }) => ({ question, approved: false, args })],
    ];
    const standing = ['a yes to no question', 'a yes to another question', 'an invalid yes'];
    it.each(inCheck(noAnswers, ([what]) => standing.includes(what)))(
      'asks again after %s',
      async (_, make) => {
        const { session, ledger } = world.begin();
        const { agent, config, asked } = await interrupted(session());
        const state = await resume(agent, config, make(asked));
        expect(questions(state)).toMatchObject([{ toolCallId: 'write', question: asked.question }]);
        expect(ledger()).toBe(UNTOUCHED);
      },
    );

    it('says what is missing of an answer', async () => {
      const { session } = world.begin();
      const { agent, config } = await interrupted(session());
      const [asked] = questions(await resume(agent, config, { approved: true }));
      expect(asked?.problem).toMatch(/question/);
    });

    it('does not run by a yes to what the call asks no more', async () => {
      const { session, ledger, allowOnly } = world.begin();
      const { agent, config, asked, model } = await interrupted(session());
      allowOnly('read_file', 'steps');
      const state = await resume(agent, config, { question: asked.question, approved: true });
      expect(said(state)).toBe('Done.');
      expect(told(model, 'write')).toMatchObject({ status: 'error' });
      expect(ledger()).toBe(UNTOUCHED);
    });

    const answers = [
      [true, ''],
      [false, UNTOUCHED],
    ] as const;
    it.each(inCheck(answers, ([says]) => !says))(
      'asks the session in the middle of the run, which says %j',
      async (says, expected) => {
        const { session, ledger } = world.begin();
        const asked: string[] = [];
        const approve = ({ toolCallId }: { toolCallId: string }) => {
          asked.push(toolCallId);
          return says;
        };
        const { state } = await begin(session('s', { approve }), [READ, WRITE, 'Done.'], {
          approvals: 'session',
        });
        expect([said(state), asked, ledger()]).toEqual(['Done.', ['write'], expected]);
      },
    );

    it('is refused and waits where nothing can be interrupted', async () => {
      const { session, ledger } = world.begin();
      const model = scriptedModel(READ, WRITE, 'Done.');
      const agent = makeAgent({ model, tools: await toLangchainTools(session()) });
      expect(said(await agent.invoke(GO))).toBe('Done.');
      expect(told(model, 'write')).toMatchObject({
        status: 'error',
        content: expect.stringMatching(/^not_available: /),
        artifact: { ok: false, approval: { toolCallId: 'write' } },
      });
      expect(await session().pending()).toMatchObject([{ toolCallId: 'write' }]);
      expect(ledger()).toBe(UNTOUCHED);
    });
  });

  describe('several calls of one step', () => {
    const STEP: Step = [
      ['count', { of: 'free' }, '1'],
      ['asked_count', { of: 'yes' }, '2'],
      ['asked_count', { of: 'no' }, '3'],
      ['count', { of: 7 }, '4'],
    ];
    const decide = ({ args }: ToolInterrupt) => ({
      approved: JSON.stringify(args).includes('yes'),
      reason: 'no',
    });

    it('run once each, of which two wait', async () => {
      const { session, counts } = world.begin();
      const begun = await begin(session(), [STEP, 'Done.']);
      expect(questions(begun.state)).toHaveLength(hasTaskForEachCall ? 2 : 1);
      // Nothing runs in a node that is going to run again.
      expect(counts()).toEqual(hasTaskForEachCall ? { free: 1 } : {});
      expect(said(await answer(begun, decide))).toBe('Done.');
      expect(counts()).toEqual({ free: 1, yes: 1 });
      expect(['1', '2', '3', '4'].map((id) => told(begun.model, id)?.status)).toEqual([
        'success',
        'success',
        'error',
        'error',
      ]);
      expect(await session().pending()).toEqual([]);
    });

    it('get each its own answer, also where it comes to another of them', async () => {
      const { session, counts } = world.begin();
      const { agent, config, state } = await begin(session(), [STEP, 'Done.']);
      let now = state;
      for (let turn = 1; questions(now).length > 0; turn++) {
        expect(turn).toBeLessThan(8);
        const pending = await session().pending();
        const open = pending.filter(({ decision }) => decision === undefined);
        const answered = open.at(-1);
        if (answered === undefined) throw new Error('nothing waits');
        const { question, args } = answered;
        const approved = JSON.stringify(args).includes('yes');
        // The answer to the last question is sent to the first one.
        const [interrupt] = now[INTERRUPT] ?? [];
        now = await resume(agent, config, { [interrupt?.id ?? '']: { question, approved } });
      }
      expect(said(now)).toBe('Done.');
      expect(counts()).toEqual({ free: 1, yes: 1 });
    });

    it('go on with tools that were made anew, once each', async () => {
      const { session, counts } = world.begin();
      const model = scriptedModel(STEP, 'Done.');
      const checkpointer = new MemorySaver();
      const config = { configurable: { thread_id: 'anew' } };
      const make = async () =>
        makeAgent({ model, tools: await toLangchainTools(session()), checkpointer });
      let state = await (await make()).invoke(GO, config);
      while (questions(state).length > 0) {
        state = await resume(await make(), config, await answerInterrupts(state, decide));
      }
      expect(said(state)).toBe('Done.');
      expect(counts()).toEqual({ free: 1, yes: 1 });
    });

    it('run once, where two runs go on with them at once', async () => {
      const { session, counts } = world.begin();
      const { agent, config, state } = await begin(session(), [
        [['asked_count', { of: 'yes' }, 'one']],
        'Done.',
        'Done.',
      ]);
      const given = await answerInterrupts(state, decide);
      const goOn = () => resume(agent, config, given).catch(() => {});
      await Promise.all([goOn(), goOn(), goOn()]);
      expect(counts()).toEqual({ yes: 1 });
    });

    it('that have one id are not asked about, and do not run', async () => {
      const { session, counts } = world.begin();
      const { model, state } = await begin(session(), [
        [
          ['asked_count', { of: 'one' }, 'same'],
          ['asked_count', { of: 'other' }, 'same'],
        ],
        'Done.',
      ]);
      expect([said(state), counts()]).toEqual(['Done.', {}]);
      expect(told(model, 'same')).toMatchObject({ status: 'error' });
    });
  });

  it('does not call what is not of the personality, also by a tool that was kept', async () => {
    const { session, ledger, allowOnly } = world.begin();
    const kept = await toLangchainTools(session());
    allowOnly('read_file');
    expect((await toLangchainTools(session())).map(({ name }) => name)).toEqual(['read_file']);
    const model = scriptedModel(WRITE, 'Done.');
    const agent = makeAgent({ model, tools: kept, checkpointer: new MemorySaver() });
    const state = await agent.invoke(GO, { configurable: { thread_id: 'kept' } });
    expect(said(state)).toBe('Done.');
    expect(told(model, 'write')).toMatchObject({ status: 'error' });
    expect(ledger()).toBe(UNTOUCHED);
  });

  it.runIf(isWhole)('offers what `tools` names, and runs nothing else', async () => {
    const { session } = world.begin();
    const tools = await toLangchainTools(session(), { tools: ['steps', 'nobody'] });
    expect(tools.map(({ name }) => name)).toEqual(['steps']);
  });
});
