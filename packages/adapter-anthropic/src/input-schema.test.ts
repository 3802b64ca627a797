import { describe, expect, it } from 'vitest';
import { inputSchemaOf } from './input-schema.js';

const text = { type: 'string' };
const number = { type: 'number' };

describe('inputSchemaOf', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['nothing', {}, { type: 'object' }],
    [
      'an object as it is',
      { type: 'object', properties: { a: { anyOf: [text, number] } }, required: ['a'], $defs: {} },
      { type: 'object', properties: { a: { anyOf: [text, number] } }, required: ['a'], $defs: {} },
    ],
    [
      'alternatives as all of their properties',
      {
        description: 'Either.',
        oneOf: [
          { properties: { by: { const: 1 }, a: text }, required: ['by', 'a'] },
          { properties: { by: { const: 2 }, b: text }, required: ['by', 'b'] },
        ],
        additionalProperties: false,
      },
      {
        description: 'Either.',
        type: 'object',
        properties: { by: { anyOf: [{ const: 1 }, { const: 2 }] }, a: text, b: text },
        required: ['by'],
        additionalProperties: true,
      },
    ],
    [
      'parts as all of their properties',
      {
        type: 'object',
        properties: { c: text },
        required: ['c'],
        allOf: [
          { properties: { a: text }, required: ['a'] },
          { anyOf: [{ properties: { b: text }, required: ['b'] }, { required: ['b'] }] },
        ],
      },
      {
        type: 'object',
        properties: { a: text, b: text, c: text },
        required: ['c', 'a', 'b'],
        additionalProperties: true,
      },
    ],
    [
      'what is no schema as nothing',
      { anyOf: 'x', allOf: [7, null], properties: [1], required: 'a' },
      { type: 'object', properties: {}, required: [], additionalProperties: true },
    ],
  ])('gives %s', (_, schema, expected) => {
    const before = structuredClone(schema);
    expect(inputSchemaOf(schema)).toEqual(expected);
    expect(schema).toEqual(before);
  });

  it('keeps a property of an odd name a property', () => {
    const schema = JSON.parse('{"anyOf":[{"properties":{"__proto__":{"type":"string"}}}]}');
    const { properties } = inputSchemaOf(schema);
    expect(Object.entries(Object(properties))).toEqual([['__proto__', text]]);
  });
});
