import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, ok } from './tool-helpers.js';

function toolWith(settings: z.ZodType) {
  return defineTool({
    name: 'search',
    description: 'Searches.',
    input: z.object({}),
    settings,
    capabilities: {},
    execute: async (_args, ctx) => ok(JSON.stringify(ctx.settings)),
  });
}

const settings = z.strictObject({
  provider: z.enum(['brave', 'exa']).default('brave').describe('Who is asked.'),
  rules: z.array(z.strictObject({ host: z.string() })).default([]),
});

describe('defineTool settings', () => {
  it('parse what the personality says, with defaults', () => {
    const tool = toolWith(settings);
    expect(tool.settings?.parse({})).toEqual({
      ok: true,
      settings: { provider: 'brave', rules: [] },
    });
    expect(tool.settings?.parse({ provider: 'exa' })).toMatchObject({
      settings: { provider: 'exa' },
    });
  });

  it('are written as JSON Schema once for the tools that share them', () => {
    const shared = z.strictObject({ limit: z.int().default(10) });
    const write = vi.spyOn(shared['~standard'].jsonSchema, 'input');
    const tools = [toolWith(shared), toolWith(shared)];
    expect(write).toHaveBeenCalledOnce();
    expect(tools[1]?.settings?.schema).toEqual(tools[0]?.settings?.schema);
    expect(toolWith(settings).settings?.schema).not.toEqual(tools[0]?.settings?.schema);
  });

  it.each<[string, unknown, (string | number)[]]>([
    ['an invalid value', { provider: 'bing' }, ['provider']],
    ['a wrong type deep inside', { rules: [{ host: 'a' }, { host: 1 }] }, ['rules', 1, 'host']],
    ['an unknown key', { x: 1 }, []],
    ['no object', 7, []],
    ['nothing', undefined, []],
  ])('say where %s stands', (_name, value, path) => {
    const parsed = toolWith(settings).settings?.parse(value);
    expect(parsed).toMatchObject({ ok: false, issues: [{ path, message: expect.any(String) }] });
  });

  it('are told to operators as JSON Schema', () => {
    expect(toolWith(settings).settings?.schema).toMatchObject({
      type: 'object',
      properties: { provider: { enum: ['brave', 'exa'], description: 'Who is asked.' } },
    });
  });

  it('are absent from a tool without', () => {
    const tool = defineTool({
      name: 'search',
      description: 'Searches.',
      schema: { type: 'object' },
      capabilities: {},
      execute: async () => ok(''),
    });
    expect('settings' in tool).toBe(false);
  });

  it.each<[string, z.ZodType, string]>([
    ['something must be set', z.object({ key: z.string() }), "{} doesn't satisfy (key:"],
    ['they are no object', z.string().catch('x'), 'settings are an object'],
    [
      'they can not be written as JSON Schema',
      z.object({ d: z.date().optional() }),
      '(Date cannot be represented in JSON Schema)',
    ],
    ['they validate asynchronously', z.object({}).refine(async () => true), 'asynchronously'],
  ])('are refused when %s', (_name, schema, message) => {
    expect(() => toolWith(schema)).toThrow(expect.objectContaining({ code: 'TOOL_INVALID' }));
    expect(() => toolWith(schema)).toThrow(message);
  });
});
