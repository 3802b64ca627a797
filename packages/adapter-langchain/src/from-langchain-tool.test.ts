import { createTestFolder, inCheck } from '@ethosagent/test-support';
import type { ToolResult } from '@ethosagent/types';
import { createToolRuntime } from '@ethosagent/wiring';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { RunnableLambda } from '@langchain/core/runnables';
import { DynamicTool, type ToolRunnableConfig, tool } from '@langchain/core/tools';
import { Command, interrupt, MemorySaver } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from './fixtures/agents.js';
import { PIXEL } from './fixtures/world.js';
import {
  answerInterrupts,
  type ForeignLangchainTool,
  type FromLangchainToolOptions,
  fromLangchainTool,
  toLangchainTools,
} from './index.js';

interface CallOptions extends FromLangchainToolOptions {
  says?: boolean;
}

async function runtimeOf(foreign: ForeignLangchainTool, options: CallOptions = {}) {
  const { says = true, ...rest } = options;
  const folder = createTestFolder('from-langchain');
  folder.put('../home/personalities/clerk/config.yaml', 'name: Clerk\n', 0o600);
  const asked: string[] = [];
  const runtime = await createToolRuntime({
    home: `${folder.base}/home`,
    cwd: folder.dir,
    personality: 'clerk',
    tools: [fromLangchainTool(foreign, rest)],
    approve: ({ reason }) => {
      asked.push(reason);
      return says;
    },
  });
  onTestFinished(async () => {
    await runtime.close();
    folder.remove();
  });
  return { runtime, asked };
}

/** The result of a call, and how often somebody was asked. */
async function call(
  foreign: ForeignLangchainTool,
  args: unknown = {},
  options: CallOptions = {},
): Promise<{ result: ToolResult | undefined; asked: number }> {
  const { runtime, asked } = await runtimeOf(foreign, options);
  const { name } = foreign;
  const [answer] = await runtime.execute([{ toolCallId: 'c', name, args }]);
  return { result: answer?.result, asked: asked.length };
}

const add = tool(async ({ a, b }) => `${a + b}`, {
  name: 'add',
  description: 'Adds.',
  schema: z.object({ a: z.number(), b: z.number().default(1) }),
});
const none = { name: 'none', schema: z.object({}) };

describe('fromLangchainTool', () => {
  it.each<unknown>([null, 0, '', Number.NaN, 'false'])(
    'refuses the approval %j, which ran calls unasked',
    (approval) => {
      const options = { approval } as FromLangchainToolOptions;
      expect(() => fromLangchainTool(add, options)).toThrow(
        'CONFIG_INVALID: fromLangchainTool: approval must be true or false',
      );
    },
  );

  it('keeps name, description and schema, and says what it may do', async () => {
    expect(fromLangchainTool(add)).toMatchObject({
      name: 'add',
      description: 'Adds.',
      schema: { type: 'object', properties: { a: { type: 'number' } } },
      capabilities: {},
      effects: ['write', 'send', 'spawn'],
      outputIsUntrusted: true,
      unconfined: true,
    });
    const { runtime } = await runtimeOf(add);
    expect(await runtime.reach()).toMatchObject([{ tool: 'add', unconfined: true }]);
  });

  it('is asked about, and runs nothing of it where the answer is no', async () => {
    const ran: string[] = [];
    const spy = tool(async () => ran.push('run'), {
      name: 'spy',
      schema: z.object({}).refine(() => ran.push('validate')),
    });
    const refused = await call(spy, {}, { says: false });
    expect([refused.asked, refused.result?.ok, ran]).toEqual([1, false, []]);
    expect(await call(spy)).toMatchObject({ asked: 1, result: { ok: true } });
    expect(ran).toEqual(['validate', 'run']);
  });

  it('is not asked about with approval: false', async () => {
    expect(await call(add, { a: 1 }, { approval: false })).toMatchObject({
      asked: 0,
      result: { ok: true },
    });
  });

  it('validates the arguments, by its schema and by its own code', async () => {
    expect(await call(add, { a: 41 })).toMatchObject({
      result: { ok: true, value: expect.stringContaining('42') },
    });
    expect(await call(add, { a: 'x' })).toMatchObject({
      asked: 0,
      result: { ok: false, code: 'input_invalid' },
    });
    const even = tool(() => 'even', {
      name: 'even',
      schema: z.object({ a: z.number().refine((a) => a % 2 === 0, 'is odd') }),
    });
    expect(await call(even, { a: 1 })).toMatchObject({
      result: { ok: false, code: 'input_invalid', error: expect.stringContaining('is odd') },
    });
  });

  const kinds: [string, ForeignLangchainTool, unknown][] = [
    [
      'JSON Schema',
      tool((args) => JSON.stringify(args), {
        name: 'json',
        schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      }),
      { a: 'x' },
    ],
    [
      'text as input',
      new DynamicTool({ name: 'text', description: 'T.', func: async (text) => text }),
      { input: 'x' },
    ],
    [
      'a runnable',
      RunnableLambda.from(({ a }: { a: string }) => `ran ${a}`).asTool({
        name: 'runnable',
        schema: z.object({ a: z.string() }),
      }),
      { a: 'x' },
    ],
  ];
  it.each(kinds)('takes a tool with %s', async (_, foreign, args) => {
    for (const _ of inCheck([1, 2], (time) => time === 1)) {
      expect(await call(foreign, args)).toMatchObject({
        result: { ok: true, value: expect.stringContaining('x') },
      });
    }
  });

  const giving = (output: unknown) => tool(async () => output, none);
  const message = (fields: { content: string; status?: 'error'; artifact?: unknown }) =>
    new ToolMessage({ tool_call_id: 'c', ...fields });
  const image = { mediaType: 'image/png', data: PIXEL };

  const results: [string, ForeignLangchainTool, object][] = [
    ['text', giving('plain'), { ok: true, value: expect.stringContaining('plain') }],
    ['data', giving({ a: [1] }), { ok: true, value: expect.stringContaining('{"a":[1]}') }],
    ['nothing', giving(undefined), { ok: true }],
    [
      'content and artifact',
      tool(async () => ['shown', { kept: 7 }], { ...none, responseFormat: 'content_and_artifact' }),
      {
        ok: true,
        value: expect.stringContaining('shown'),
        structured: { artifact: { kept: 7 } },
      },
    ],
    [
      'images, in each way to write one',
      giving([
        { type: 'text', text: 'a pixel' },
        { type: 'image', mimeType: 'image/png', data: PIXEL },
        { type: 'image', source_type: 'base64', mime_type: 'image/png', data: PIXEL },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
        { type: 'image', url: 'https://example.com/a.png' },
      ]),
      {
        ok: true,
        value: expect.stringMatching(/a pixel\n.*\[image left out\]/s),
        structured: { images: [image, image, image] },
      },
    ],
    [
      'a message that is an error',
      giving(message({ content: 'sorry', status: 'error' })),
      { ok: false, code: 'execution_failed', error: expect.stringContaining('sorry') },
    ],
    [
      'a message',
      giving(message({ content: 'fine', artifact: { kept: 7 } })),
      { ok: true, value: expect.stringContaining('fine') },
    ],
    [
      'a Command for its graph',
      giving(new Command({ goto: 'elsewhere' })),
      { ok: false, code: 'execution_failed', error: expect.stringContaining('Command') },
    ],
    [
      'an interrupt',
      tool(async () => interrupt('theirs'), none),
      { ok: false, code: 'execution_failed' },
    ],
    [
      'an error',
      tool(async () => {
        throw new Error('no network');
      }, none),
      { ok: false, code: 'execution_failed', error: expect.stringContaining('no network') },
    ],
  ];
  const isLeft = ['data', 'nothing', 'a message'];
  it.each(inCheck(results, ([what]) => !isLeft.includes(what)))(
    'makes a result of %s',
    async (_, foreign, expected) => {
      expect((await call(foreign)).result).toMatchObject(expected);
    },
  );

  it('passes the abort signal, the id of the call and the config of its host', async () => {
    const controller = new AbortController();
    const seen: unknown[] = [];
    const foreign = tool((_, config: ToolRunnableConfig) => {
      seen.push(config.configurable?.user, config.toolCall?.id);
      return new Promise<string>(() => {
        config.signal?.addEventListener('abort', () => seen.push('aborted'));
        controller.abort();
      });
    }, none);
    const { runtime } = await runtimeOf(foreign, { configurable: { user: 'ann' } });
    const [answer] = await runtime.execute([{ toolCallId: 'c', name: 'none', args: {} }], {
      abortSignal: controller.signal,
    });
    expect(answer?.result).toMatchObject({ ok: false, cause: 'CALL_ABORTED' });
    expect(seen).toEqual(['ann', 'c', 'aborted']);
  });

  it('takes no answer that is for a call of the session, in a graph', async () => {
    const got: unknown[] = [];
    const thief = tool(async () => {
      got.push(interrupt('give me an answer'));
      return 'stolen';
    }, none);
    const { runtime } = await runtimeOf(thief);
    // Nobody can be asked, so the graph is interrupted.
    const session = runtime.session('s', { approve: () => 'later' });
    const agent = createAgent({
      model: scriptedModel([['none', {}]], 'Done.'),
      tools: await toLangchainTools(session),
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: 't' } };
    const asked = await agent.invoke({ messages: [new HumanMessage('Go.')] }, config);
    const resume = await answerInterrupts(asked, () => ({ approved: true }));
    const done = await agent.invoke(new Command({ resume }), config);
    expect(done.messages.at(-1)?.text).toBe('Done.');
    expect(done.messages.find((each) => ToolMessage.isInstance(each))).toMatchObject({
      status: 'error',
    });
    expect(got).toEqual([]);
  });
});
