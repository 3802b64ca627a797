import { ok } from '@ethosagent/plugin-sdk';
import { createTestFolder } from '@ethosagent/test-support';
import { createToolRuntime } from '@ethosagent/wiring';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import {
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { AGENTS, scriptedModel } from './fixtures/agents.js';
import { openWorld, type World } from './fixtures/world.js';
import { answerInterrupts, ToolCallError, toLangchainTools } from './index.js';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const GO = { messages: [new HumanMessage('Go.')] };
const config = { configurable: { thread_id: 't' } };
const yes = () => ({ approved: true });
const call = (name: string, args: Record<string, unknown>) => ({
  type: 'tool_call' as const,
  id: name,
  name,
  args,
});

async function toolsOf(session: Parameters<typeof toLangchainTools>[0]) {
  const tools = await toLangchainTools(session);
  return (name: string) => {
    const found = tools.find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  };
}

describe('a node that runs again', () => {
  it('keeps what ran before an interrupt, and gives the same result', async () => {
    const { session, counts, ledger } = world.begin();
    const get = await toolsOf(session());
    const results: unknown[][] = [];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('work', async () => {
        const run: unknown[] = [];
        results.push(run);
        // Each call asks only because of what the one before it has read or done.
        for (const next of [
          call('count', { of: 'a' }),
          call('read_file', { path: 'note.txt' }),
          call('asked_count', { of: 'b' }),
          call('write_file', { path: 'ledger.txt', content: 'written' }),
        ]) {
          run.push((await get(next.name).invoke(next)).content);
        }
        run.push(interrupt('of the node itself'));
        return {};
      })
      .addEdge(START, 'work')
      .compile({ checkpointer: new MemorySaver() });
    let state = await graph.invoke(GO, config);
    for (const _ of [1, 2]) {
      state = await graph.invoke(
        new Command({ resume: await answerInterrupts(state, yes) }),
        config,
      );
    }
    expect(state).toMatchObject({ __interrupt__: [{ value: 'of the node itself' }] });
    expect([counts(), ledger()]).toEqual([{ a: 1, b: 1 }, 'written']);
    expect(results.map(({ length }) => length)).toEqual([2, 3, 4]);
    expect(results[2]?.slice(0, 3)).toEqual(results[1]);
  });

  it.each(Object.keys(AGENTS).filter((kind) => kind !== 'createAgent'))(
    'beside a tool of somebody else that interrupts it, in %s',
    async (kind) => {
      const { session, counts } = world.begin();
      const theirs = tool(() => `said ${interrupt('theirs')}`, {
        name: 'theirs',
        schema: z.object({}),
      });
      const tools = [...(await toLangchainTools(session())), theirs];
      const model = scriptedModel(
        [
          ['count', { of: 'a' }],
          ['theirs', {}],
        ],
        'Done.',
      );
      const agent = AGENTS[kind]?.({ model, tools, checkpointer: new MemorySaver() });
      expect(await answerInterrupts(await agent?.invoke(GO, config), yes)).toEqual({});
      const state = await agent?.invoke(new Command({ resume: 'hello' }), config);
      expect(state?.messages.filter((each) => ToolMessage.isInstance(each))).toMatchObject([
        { content: 'a 1' },
        { content: 'said hello' },
      ]);
      expect(counts()).toEqual({ a: 1 });
    },
  );

  it('runs a call again that was broken off, and no other', async () => {
    const { session, began, counts } = world.begin();
    const get = await toolsOf(session());
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('work', async () => {
        await get('count').invoke(call('count', { of: 'a' }));
        await get('wait').invoke(call('wait', {}));
        return {};
      })
      .addEdge(START, 'work')
      .compile({ checkpointer: new MemorySaver() });
    const brokenOff = async (input: typeof GO | null) => {
      const abort = new AbortController();
      const beginning = began();
      const running = graph.invoke(input, { ...config, signal: abort.signal });
      const outcome = expect(running).rejects.toThrow();
      await beginning;
      abort.abort();
      await outcome;
    };
    await brokenOff(GO);
    // Continues from where it stopped.
    await brokenOff(null);
    expect(counts()).toEqual({ a: 1 });
  });
});

it('surfaces what an agent that is a tool asks', async () => {
  const { session, counts } = world.begin();
  const inner = createAgent({
    model: scriptedModel([['asked_count', { of: 'inner' }]], 'counted'),
    tools: await toLangchainTools(session()),
  });
  const ask = tool(async () => (await inner.invoke(GO)).messages.at(-1)?.text ?? '', {
    name: 'ask',
    schema: z.object({}),
  });
  const outer = createAgent({
    model: scriptedModel([['ask', {}]], 'Done.'),
    tools: [ask],
    checkpointer: new MemorySaver(),
  });
  const asked = await outer.invoke(GO, config);
  const resume = await answerInterrupts(asked, yes);
  expect(Object.keys(resume)).toHaveLength(1);
  expect(counts()).toEqual({});
  const done = await outer.invoke(new Command({ resume }), config);
  expect(done.messages.at(-1)?.text).toBe('Done.');
  expect(counts()).toEqual({ inner: 1 });
});

it('is answered out of a stream, too', async () => {
  const { session, counts } = world.begin();
  const agent = createAgent({
    model: scriptedModel([['asked_count', { of: 'a' }]], 'Done.'),
    tools: await toLangchainTools(session()),
    checkpointer: new MemorySaver(),
  });
  let resume = {};
  for await (const chunk of await agent.stream(GO, { ...config, streamMode: 'updates' })) {
    resume = { ...resume, ...(await answerInterrupts(chunk, yes)) };
  }
  expect(Object.keys(resume)).toHaveLength(1);
  for await (const _ of await agent.stream(new Command({ resume }), config));
  expect(counts()).toEqual({ a: 1 });
});

describe('a tool outside a graph', () => {
  it('gives a program its content, and throws what failed', async () => {
    const { session } = world.begin();
    const get = await toolsOf(session());
    expect(await get('steps').invoke({})).toBe('there');
    const failing = get('read_file').invoke({ path: 'nothing.txt' });
    await expect(failing).rejects.toBeInstanceOf(ToolCallError);
    await expect(failing).rejects.toMatchObject({ code: 'execution_failed' });
  });

  it('gives a tool call its message', async () => {
    const { session } = world.begin();
    const get = await toolsOf(session());
    const message = await get('steps').invoke(call('steps', {}));
    expect(message).toMatchObject({ content: 'there', tool_call_id: 'steps', status: 'success' });
    expect(
      await get('read_file').invoke(call('read_file', { path: '/etc/hostname' })),
    ).toMatchObject({
      status: 'error',
      tool_call_id: 'read_file',
      artifact: { cause: 'PATH_NOT_REACHABLE' },
    });
  });

  it.each([null, 7, 'text', [], { path: 7 }])('leaves %j to the session', async (args) => {
    const { session } = world.begin();
    const get = await toolsOf(session());
    // As a program in plain JavaScript may call it.
    const invoke: (input: unknown) => Promise<unknown> = (input) =>
      Reflect.apply(get('read_file').invoke, get('read_file'), [input]);
    await expect(invoke(args)).rejects.toMatchObject({ code: 'input_invalid' });
  });
});

describe('a schema that the validator of the framework does not take', () => {
  const frozen = <T>(value: T): T => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen);
    return Object.freeze(value);
  };
  const SCHEMAS = {
    frozen: frozen({
      type: 'object' as const,
      properties: { a: { type: 'string' as const } },
      required: ['a'],
    }),
    'one with a reference that it can not resolve': {
      type: 'object',
      properties: { a: { $ref: '#/$defs/text' } },
      required: ['a'],
      $defs: { text: { $anchor: 'text', type: 'string' } },
      $id: 'https://schemas.example/tool',
    },
  };

  it.each(Object.entries(SCHEMAS))('%s', async (_, schema) => {
    const folder = createTestFolder('langchain-schema');
    folder.put('../home/personalities/clerk/config.yaml', 'name: Clerk\n', 0o600);
    const runtime = await createToolRuntime({
      home: `${folder.base}/home`,
      cwd: folder.dir,
      personality: 'clerk',
      tools: [
        {
          name: 'narrow',
          description: 'Narrow.',
          schema,
          capabilities: {},
          execute: async ({ a }) => ok(`got ${a}`),
        },
      ],
    });
    onTestFinished(async () => {
      await runtime.close();
      folder.remove();
    });
    const session = runtime.session('s');
    const told = JSON.stringify((await session.definitions())[0]?.parameters);
    const [narrow] = await toLangchainTools(session);
    for (const _ of [1, 2]) {
      expect(await narrow?.invoke({ a: 'x' })).toBe('got x');
      await expect(narrow?.invoke({ a: 7 })).rejects.toMatchObject({ code: 'input_invalid' });
    }
    expect(narrow && JSON.stringify(convertToOpenAITool(narrow).function.parameters)).toBe(told);
    expect(JSON.stringify((await session.definitions())[0]?.parameters)).toBe(told);
  });

  it('is one that it gives up on', async () => {
    const plain = tool(() => 'ran', { name: 'plain', schema: SCHEMAS.frozen });
    await expect(plain.invoke({ a: 'x' })).rejects.toThrow(TypeError);
  });
});
