import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnyTool } from '@ethosagent/types';
import { createToolRuntime, type ToolRuntime, type ToolRuntimeOptions } from '@ethosagent/wiring';
import { defineToolInputGuardrail, setTracingDisabled, tool } from '@openai/agents';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { storesOfHome } from './fixtures/stores.js';
import {
  type ForeignOpenAiTool,
  type FromOpenAiToolOptions,
  fromOpenAiTool,
} from './from-openai-tool.js';

const APOLOGY = 'An error occurred while running the tool. Please try again.';
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let home: string;
const open: ToolRuntime[] = [];
beforeAll(() => {
  setTracingDisabled(true);
  home = realpathSync(mkdtempSync(join(tmpdir(), 'foreign-')));
  mkdirSync(join(home, 'personalities', 'any'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, 'personalities', 'any', 'config.yaml'), 'name: Any\n', { mode: 0o600 });
});
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function call(foreign: AnyTool, args: unknown, options: Partial<ToolRuntimeOptions> = {}) {
  const runtime = await createToolRuntime({
    home,
    personality: 'any',
    tools: [foreign],
    stores: storesOfHome(),
    approve: () => true,
    ...options,
  });
  open.push(runtime);
  const [answer] = await runtime.execute([{ toolCallId: 'c', name: foreign.name, args }]);
  return answer?.result;
}

const city = z.object({ city: z.string() });
const base = { name: 'weather', description: 'The weather.', parameters: city };

describe('fromOpenAiTool', () => {
  it.each<unknown>([null, 0, '', Number.NaN, 'false'])(
    'refuses the approval %j, which ran calls unasked',
    (approval) => {
      const foreign = tool({ ...base, execute: () => 'sunny' });
      const options = { approval } as FromOpenAiToolOptions;
      expect(() => fromOpenAiTool(foreign, options)).toThrow(
        'CONFIG_INVALID: fromOpenAiTool: approval must be true or false',
      );
    },
  );

  it('brings name, description, schema and answer', async () => {
    const foreign = tool({ ...base, execute: ({ city }) => `sunny in ${city}` });
    const brought = fromOpenAiTool(foreign);
    expect(brought).toMatchObject({
      name: 'weather',
      description: 'The weather.',
      schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      capabilities: {},
      unconfined: true,
      effects: ['write', 'send', 'spawn'],
      outputIsUntrusted: true,
      requiresApproval: true,
    });
    expect(await call(brought, { city: 'Bonn' })).toMatchObject({
      ok: true,
      value: expect.stringContaining('sunny in Bonn'),
    });
  });

  const fails = () => {
    throw new Error('no network');
  };
  const late = () => new Promise<string>(() => {});
  it.each<[string, () => ForeignOpenAiTool, string]>([
    ['throws', () => tool({ ...base, execute: fails }), APOLOGY],
    [
      'throws, and has words of its own for it',
      () => tool({ ...base, execute: fails, errorFunction: () => 'All is well.' }),
      'All is well.',
    ],
    [
      'throws, and lets it through',
      () => tool({ ...base, execute: fails, errorFunction: null }),
      'no network',
    ],
    [
      'throws, and has an output schema',
      () =>
        tool({
          ...base,
          outputSchema: z.object({ sky: z.string() }),
          execute: fails,
          errorFunction: () => ({ sky: 'none' }),
        }),
      '{"sky":"none"}',
    ],
    [
      'does not take the arguments',
      () => tool({ ...base, parameters: city.extend({ city: z.literal('Rome') }), execute: fails }),
      APOLOGY,
    ],
    [
      'is late, which the framework makes an answer of',
      () => tool({ ...base, execute: late, timeoutMs: 1 }),
      "Tool 'weather' timed out after 1ms.",
    ],
  ])('makes an error of a tool that %s', async (_, make, message) => {
    const brought = { ...fromOpenAiTool(make()), validateSchema: false };
    expect(await call(brought, { city: 'Bonn' })).toMatchObject({
      ok: false,
      code: 'execution_failed',
      error: expect.stringContaining(message),
    });
  });

  it('takes no answer for an error, whatever it says', async () => {
    const foreign = tool({ ...base, execute: () => APOLOGY });
    expect(await call(fromOpenAiTool(foreign), { city: 'Bonn' })).toMatchObject({ ok: true });
  });

  it('tells two calls at once apart', async () => {
    const foreign = tool({
      ...base,
      execute: ({ city }) => {
        if (city === 'Bonn') throw new Error('no network');
        return 'sunny';
      },
    });
    const brought = fromOpenAiTool(foreign);
    const cities = ['Bonn', 'Rome', 'Bonn', 'Rome'];
    const results = await Promise.all(cities.map((city) => call(brought, { city })));
    expect(results.map((result) => result?.ok)).toEqual([false, true, false, true]);
  });

  it('is asked about, and a no is a no', async () => {
    let ran = 0;
    const foreign = tool({ ...base, execute: () => `${++ran}` });
    const no = { approve: () => false };
    expect(await call(fromOpenAiTool(foreign), { city: 'Bonn' }, no)).toMatchObject({
      ok: false,
      code: 'not_available',
    });
    expect(ran).toBe(0);
    const unasked = fromOpenAiTool(foreign, { approval: false });
    expect(await call(unasked, { city: 'Bonn' }, no)).toMatchObject({ ok: true });
  });

  it('is asked about where the tool itself says so, whatever the option', async () => {
    const foreign = tool({
      ...base,
      needsApproval: async (_, { city }) => city === 'Bonn',
      execute: () => 'sunny',
    });
    const brought = fromOpenAiTool(foreign, { approval: false });
    const no = { approve: () => false };
    expect(await call(brought, { city: 'Bonn' }, no)).toMatchObject({ ok: false });
    expect(await call(brought, { city: 'Rome' }, no)).toMatchObject({ ok: true });
  });

  it('brings no tool whose guardrails nobody would run', () => {
    const guard = defineToolInputGuardrail({
      name: 'never',
      run: async () => ({ behavior: { type: 'throwException' } }),
    });
    const foreign = tool({ ...base, execute: () => 'sunny', inputGuardrails: [guard] });
    expect(() => fromOpenAiTool(foreign)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });

  it('brings images, and values as JSON', async () => {
    const picture = tool({
      ...base,
      execute: () => [
        { type: 'text', text: 'a dot' },
        { type: 'image', image: `data:image/png;base64,${PNG}` },
        { type: 'image', image: { data: Buffer.from(PNG, 'base64'), mediaType: 'image/png' } },
      ],
    });
    const image = { mediaType: 'image/png', data: PNG };
    expect(await call(fromOpenAiTool(picture), { city: 'Bonn' })).toMatchObject({
      ok: true,
      value: expect.stringContaining('a dot'),
      structured: { images: [image, image] },
    });
    const value = tool({ ...base, execute: () => ({ sky: 'blue' }) });
    expect(await call(fromOpenAiTool(value), { city: 'Bonn' })).toMatchObject({
      ok: true,
      value: expect.stringContaining('{"sky":"blue"}'),
    });
  });

  it('passes the abort signal and the context of its host', async () => {
    const seen: unknown[] = [];
    const controller = new AbortController();
    const foreign = tool({
      ...base,
      execute: (_, run, details) => {
        seen.push(run?.context, details?.toolCall?.name);
        return new Promise<string>((_, reject) => {
          details?.signal?.addEventListener('abort', () => {
            seen.push('aborted');
            reject(new Error('aborted'));
          });
          controller.abort();
        });
      },
    });
    const brought = fromOpenAiTool(foreign, { context: { user: 'ann' } });
    const runtime = await createToolRuntime({
      home,
      personality: 'any',
      tools: [brought],
      stores: storesOfHome(),
      approve: () => true,
    });
    open.push(runtime);
    const [answer] = await runtime.execute(
      [{ toolCallId: 'c', name: 'weather', args: { city: 'Bonn' } }],
      { abortSignal: controller.signal },
    );
    expect(answer?.result).toMatchObject({ ok: false, cause: 'CALL_ABORTED' });
    expect(seen).toEqual([{ user: 'ann' }, 'weather', 'aborted']);
  });
});
