import { runTool } from '@ethosagent/plugin-sdk/testing';
import { createGate, createTestFolder } from '@ethosagent/test-support';
import type { ToolResult } from '@ethosagent/types';
import { createToolRuntime } from '@ethosagent/wiring';
import { dynamicTool, jsonSchema, type Tool, tool } from 'ai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ModelOutput } from './ai-types.js';
import { type FromAiToolOptions, fromAiTool } from './from-ai-tool.js';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The result of a call of the tool in a runtime, and how often somebody was asked. */
async function call(
  foreign: Tool,
  args: unknown = {},
  options: FromAiToolOptions & { says?: boolean } = {},
): Promise<{ result: ToolResult | undefined; asked: number }> {
  const { says = true, ...rest } = options;
  const folder = createTestFolder('from-ai-tool');
  folder.put('../home/personalities/clerk/config.yaml', 'name: Clerk\n', 0o600);
  let asked = 0;
  const runtime = await createToolRuntime({
    home: `${folder.base}/home`,
    cwd: folder.dir,
    personality: 'clerk',
    tools: [await fromAiTool('foreign', foreign, rest)],
    approve: () => {
      asked += 1;
      return says;
    },
  });
  onTestFinished(async () => {
    await runtime.close();
    folder.remove();
  });
  const [answer] = await runtime.execute([{ toolCallId: 'c', name: 'foreign', args }]);
  return { result: answer?.result, asked };
}

/** The tool's own result. */
async function said(foreign: Tool, args: unknown = {}): Promise<ToolResult> {
  return (await runTool(await fromAiTool('foreign', foreign, { approval: false }), args)).result;
}

const add = tool({
  description: 'Adds.',
  inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
  execute: async ({ a, b }) => a + b,
});

describe('fromAiTool', () => {
  it.each<unknown>([null, 0, '', Number.NaN, 'false'])(
    'refuses the approval %j, which ran calls unasked',
    async (approval) => {
      const options = { approval } as FromAiToolOptions;
      await expect(fromAiTool('add', add, options)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: 'CONFIG_INVALID: fromAiTool: approval must be true or false',
      });
    },
  );

  it.each<unknown>([undefined, null, 'add', Promise.resolve(add)])(
    'refuses what is no tool: %s',
    async (given) => {
      await expect(fromAiTool('add', given as Tool)).rejects.toMatchObject({
        code: 'TOOL_INVALID',
        message: expect.stringContaining('fromAiTool: give a tool of the framework'),
      });
    },
  );

  it('keeps name, description and schema, and says what it may do', async () => {
    expect(await fromAiTool('add', add)).toMatchObject({
      name: 'add',
      description: 'Adds.',
      schema: { type: 'object', properties: { a: { type: 'number' } } },
      capabilities: {},
      effects: ['write', 'send', 'spawn'],
      outputIsUntrusted: true,
      unconfined: true,
    });
  });

  it('runs nothing of the tool, not even its validation, that nobody approved', async () => {
    const ran: string[] = [];
    const spy = tool({
      inputSchema: jsonSchema<object>(
        { type: 'object' },
        {
          validate: (value) => {
            ran.push('validate');
            return { success: true, value: Object(value) };
          },
        },
      ),
      execute: async () => ran.push('execute'),
    });
    const refused = await call(spy, {}, { says: false });
    expect([refused.asked, refused.result?.ok, ran]).toEqual([1, false, []]);
    expect((await call(spy)).result?.ok).toBe(true);
    expect(ran).toEqual(['validate', 'execute']);
  });

  it.each([
    ['is not asked for with approval: false', add, { approval: false }, 0],
    ['is asked for where it asks itself', { ...add, needsApproval: true }, { approval: false }, 1],
    [
      'is asked for where it may ask itself',
      { ...add, needsApproval: () => false },
      { approval: false },
      1,
    ],
    ['is asked for', add, {}, 1],
  ])('%s', async (_, foreign, options, asked) => {
    expect(await call(foreign, { a: 1 }, options)).toMatchObject({ asked, result: { ok: true } });
  });

  it('gives it what its schema makes of the arguments', async () => {
    expect(await said(add, { a: 41 })).toMatchObject({ ok: true, value: '42' });
    expect(await said(add, { a: 'x' })).toMatchObject({ code: 'input_invalid' });
  });

  const giving = (output: unknown, toModelOutput?: () => ModelOutput): Tool => ({
    inputSchema: z.object({}),
    execute: async () => output,
    ...(toModelOutput !== undefined && { toModelOutput }),
  });

  it.each<[string, Tool, Partial<ToolResult>]>([
    ['text', giving('plain'), { ok: true, value: 'plain' }],
    [
      'data',
      giving({ a: [1] }),
      { ok: true, value: '{"a":[1]}', structured: { output: { a: [1] } } },
    ],
    ['nothing', giving(undefined), { ok: true, value: 'null' }],
    [
      'an error as output',
      giving('x', () => ({ type: 'error-text', value: 'sorry' })),
      { ok: false, code: 'execution_failed', error: 'sorry' },
    ],
    [
      'a refusal as output',
      giving('x', () => ({ type: 'execution-denied' })),
      { ok: false, code: 'execution_failed' },
    ],
    [
      'an image',
      giving('x', () => ({
        type: 'content',
        value: [
          { type: 'text', text: 'a pixel' },
          { type: 'image-data', mediaType: 'image/png', data: PIXEL },
          { type: 'file-url', url: 'https://example.com/a.pdf' },
        ],
      })),
      {
        ok: true,
        value: 'a pixel\n[file-url left out]',
        structured: { images: [{ mediaType: 'image/png', data: PIXEL }] },
      },
    ],
    ['what is no data', giving(1n), { ok: false, code: 'execution_failed' }],
  ])('makes a result of %s', async (_, foreign, expected) => {
    expect(await said(foreign)).toMatchObject(expected);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('broken'))],
  ])('makes an error of one that %s', async (_, execute) => {
    const foreign = dynamicTool({ inputSchema: z.object({}), execute });
    expect(await said(foreign)).toMatchObject({
      ok: false,
      code: 'execution_failed',
      error: expect.stringContaining('broken'),
    });
  });

  it('takes the last of several outputs', async () => {
    const foreign = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 'half';
        yield 'whole';
      },
    });
    expect(await said(foreign)).toMatchObject({ ok: true, value: 'whole' });
  });

  it('ends the outputs of a call that was aborted', async () => {
    const controller = new AbortController();
    const given: number[] = [];
    const end = createGate();
    const foreign = tool({
      inputSchema: z.object({}),
      async *execute() {
        try {
          for (let output = 1; output <= 100; output++) {
            given.push(output);
            if (output === 3) controller.abort();
            yield output;
          }
        } finally {
          end.open();
        }
      },
    });
    const made = await fromAiTool('foreign', foreign, { approval: false });
    await runTool(made, {}, { context: { abortSignal: controller.signal } });
    await end.opened;
    expect(given).toEqual([1, 2, 3]);
  });

  it('gives it the id of the call', async () => {
    const foreign = tool({
      inputSchema: z.object({}),
      execute: async (_, { toolCallId }) => toolCallId,
    });
    expect(await said(foreign)).toMatchObject({ ok: true, value: 'test-call' });
  });

  it('takes no tool that runs elsewhere', async () => {
    const client = tool({ inputSchema: z.object({}), outputSchema: z.string() });
    await expect(fromAiTool('client', client)).rejects.toMatchObject({ code: 'TOOL_INVALID' });
  });
});
