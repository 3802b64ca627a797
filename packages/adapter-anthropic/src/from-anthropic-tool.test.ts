import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { createTestFolder } from '@ethosagent/test-support';
import type { ToolResult } from '@ethosagent/types';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { PIXEL } from './fixtures/world.js';
import {
  type ForeignAnthropicTool,
  type FromAnthropicToolOptions,
  fromAnthropicTool,
} from './index.js';

/** A runtime with the tool, and the questions that it asked. */
async function open(
  foreign: ForeignAnthropicTool,
  { says = true, ...options }: FromAnthropicToolOptions & { says?: boolean } = {},
): Promise<{ runtime: ToolRuntime; asked: string[] }> {
  const folder = createTestFolder('from-anthropic-tool');
  folder.put('../home/personalities/clerk/config.yaml', 'name: Clerk\n', 0o600);
  const asked: string[] = [];
  const runtime = await createToolRuntime({
    home: `${folder.base}/home`,
    cwd: folder.dir,
    personality: 'clerk',
    tools: [fromAnthropicTool(foreign, options)],
    approve: ({ toolName }) => {
      asked.push(toolName);
      return says;
    },
  });
  onTestFinished(async () => {
    await runtime.close();
    folder.remove();
  });
  return { runtime, asked };
}

interface CallOptions extends FromAnthropicToolOptions {
  says?: boolean;
  abortSignal?: AbortSignal;
}

async function call(
  foreign: ForeignAnthropicTool,
  args: unknown = {},
  { abortSignal, ...options }: CallOptions = {},
): Promise<{ result: ToolResult | undefined; asked: string[] }> {
  const { runtime, asked } = await open(foreign, options);
  const [answer] = await runtime.execute([{ toolCallId: 'c', name: foreign.name, args }], {
    ...(abortSignal !== undefined && { abortSignal }),
  });
  return { result: answer?.result, asked };
}

const add = betaZodTool({
  name: 'add',
  description: 'Adds.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  run: async ({ a, b }) => `${a + b}`,
});

const giving = (run: ForeignAnthropicTool['run']): ForeignAnthropicTool => ({
  type: 'custom',
  name: 'giving',
  input_schema: { type: 'object', properties: {} },
  parse: (input) => input,
  run,
});

describe('fromAnthropicTool', () => {
  it.each<unknown>([null, 0, '', Number.NaN, 'false'])(
    'refuses the approval %j, which ran calls unasked',
    (approval) => {
      const options = { approval } as FromAnthropicToolOptions;
      expect(() => fromAnthropicTool(add, options)).toThrow(
        'CONFIG_INVALID: fromAnthropicTool: approval must be true or false',
      );
    },
  );

  it('keeps name, description and schema, and is listed as unconfined', async () => {
    expect(fromAnthropicTool(add)).toMatchObject({
      name: 'add',
      description: 'Adds.',
      schema: { type: 'object', properties: { a: { type: 'number' } } },
      capabilities: {},
      effects: ['write', 'send', 'spawn'],
      outputIsUntrusted: true,
      unconfined: true,
    });
    const { runtime } = await open(add);
    expect(await runtime.reach()).toMatchObject([{ tool: 'add', unconfined: true }]);
  });

  it('runs nothing of the tool, not even its parse, that nobody approved', async () => {
    const ran: string[] = [];
    const spy: ForeignAnthropicTool = {
      ...giving(() => {
        ran.push('run');
        return 'ran';
      }),
      parse: (input) => {
        ran.push('parse');
        return input;
      },
    };
    const refused = await call(spy, {}, { says: false });
    expect([refused.asked, refused.result?.ok, ran]).toEqual([['giving'], false, []]);
    expect((await call(spy)).result).toMatchObject({ ok: true });
    expect(ran).toEqual(['parse', 'run']);
  });

  it('is not asked for with approval: false', async () => {
    const { asked, result } = await call(add, { a: 1, b: 1 }, { approval: false });
    expect([asked, result]).toMatchObject([[], { ok: true }]);
  });

  it('marks what it gives', async () => {
    const { result } = await call(add, { a: 41, b: 1 });
    expect(result).toMatchObject({ ok: true, value: expect.stringMatching(/untrusted.*42/s) });
  });

  it.each([
    ['its schema', add],
    [
      'its schema, where its parse takes anything',
      betaTool({
        name: 'add',
        description: 'Adds.',
        inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
        run: ({ a }) => `${a}`,
      }),
    ],
    [
      'its own parse',
      {
        ...giving(() => 'ran'),
        parse: () => {
          throw new Error('a is wrong');
        },
      },
    ],
  ])('holds arguments to %s', async (_, foreign) => {
    const { result } = await call(foreign, { a: 'x' });
    expect(result).toMatchObject({ ok: false, code: 'input_invalid' });
  });

  it.each<[string, ForeignAnthropicTool['run'], Partial<ToolResult>]>([
    ['text', () => 'plain', { ok: true, value: expect.stringContaining('plain') }],
    [
      'blocks',
      async () => [
        { type: 'text', text: 'a pixel' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a page' } },
        { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
        {
          type: 'search_result',
          source: 'example.com',
          title: 'Found',
          content: [{ type: 'text', text: 'it' }],
        },
        { type: 'tool_reference', tool_name: 'add' },
      ],
      {
        ok: true,
        value: expect.stringContaining(
          'a pixel\n[image]\n[image left out]\na page\n[document left out]\nFound\nexample.com\nit\n[tool_reference left out]',
        ),
        structured: { images: [{ mediaType: 'image/png', data: PIXEL }] },
      },
    ],
    [
      'nothing',
      () => Object(undefined).none,
      { ok: true, value: expect.not.stringContaining('flatMap') },
    ],
    [
      'a value',
      () => Object({ degrees: 4 }),
      { ok: true, value: expect.stringContaining('"degrees"') },
    ],
    [
      'a ToolError',
      () => {
        throw new ToolError([{ type: 'text', text: 'no such city' }]);
      },
      { ok: false, code: 'execution_failed', error: expect.stringContaining('no such city') },
    ],
    [
      'an error',
      async () => Promise.reject(new Error('broken')),
      { ok: false, code: 'execution_failed', error: expect.stringContaining('broken') },
    ],
  ])('makes a result of %s', async (_, run, expected) => {
    expect((await call(giving(run))).result).toMatchObject(expected);
  });

  it('gives it the id of the call and the abort signal', async () => {
    const abort = new AbortController();
    const seen: unknown[] = [];
    const foreign = giving((_, context) => {
      seen.push(context?.toolUse.id);
      return new Promise((_, reject) => {
        context?.signal?.addEventListener('abort', () => reject(new Error('ended')));
        abort.abort();
      });
    });
    const { result } = await call(foreign, {}, { abortSignal: abort.signal });
    expect([seen, result]).toMatchObject([['c'], { ok: false, cause: 'CALL_ABORTED' }]);
  });

  it('takes no tool whose arguments the API defines', () => {
    const bash: ForeignAnthropicTool = {
      type: 'bash_20250124',
      name: 'bash',
      parse: (input) => input,
      run: () => '',
    };
    expect(() => fromAnthropicTool(bash)).toThrow(
      expect.objectContaining({ code: 'TOOL_INVALID' }),
    );
  });
});
