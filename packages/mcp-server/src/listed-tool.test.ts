import type { AnyTool } from '@ethosagent/types';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { givesStructured, listedTool } from './listed-tool.js';

const tool = (more: Partial<AnyTool> = {}): AnyTool => ({
  name: 't',
  description: 'A tool.',
  schema: {},
  capabilities: {},
  execute: async () => ({ ok: true, value: '' }),
  ...more,
});

describe('listedTool', () => {
  it.each([
    ['nothing', {}, {}],
    ['true for a property', { properties: { a: true } }, { properties: { a: {} } }],
    ['false for a property', { properties: { a: false } }, { properties: { a: { not: {} } } }],
    ['no list of what is required', { required: 'a' }, {}],
    ['odd names of what is required', { required: ['a', 1] }, { required: ['a'] }],
    ['invalid properties', { properties: [] }, {}],
    [
      'no type',
      { properties: { a: { type: 'string' } } },
      { properties: { a: { type: 'string' } } },
    ],
    ['more keywords', { $defs: { a: true }, oneOf: [] }, { $defs: { a: true }, oneOf: [] }],
  ])('makes of a schema with %s one that every client reads', (_, parameters, expected) => {
    const listed = listedTool({ name: 't', description: 'A tool.', parameters }, tool());
    expect(listed.inputSchema).toEqual({ type: 'object', ...expected });
    expect(ToolSchema.safeParse(listed).success).toBe(true);
  });

  it('says that a structured result may tell of images without their bytes', () => {
    const images = { type: 'array', items: { type: 'object', required: ['data'] } };
    const outputSchema = { type: 'object', properties: { images, a: {} }, required: ['images'] };
    const definition = { name: 't', description: 'A tool.', parameters: {}, outputSchema };
    expect(listedTool(definition, tool({ outputSchema })).outputSchema).toEqual({
      ...outputSchema,
      properties: {
        a: {},
        images: { anyOf: [images, expect.objectContaining({ type: 'array' })] },
      },
    });
  });
});

describe('givesStructured', () => {
  const outputSchema = { type: 'object' };
  it.each([
    ['has none', tool(), false],
    ['has an object', tool({ outputSchema }), true],
    ['says no type', tool({ outputSchema: {} }), true],
    ['has another type', tool({ outputSchema: { type: 'array' } }), false],
    ['gives what others wrote', tool({ outputSchema, outputIsUntrusted: true }), false],
    ['is unconfined', tool({ outputSchema, unconfined: true }), false],
    [
      'is unconfined, and trusted',
      tool({ outputSchema, unconfined: true, outputIsUntrusted: false }),
      true,
    ],
    ['is not known', undefined, false],
  ])('of a tool that %s', (_, given, expected) => {
    expect(givesStructured(given)).toBe(expected);
  });
});
