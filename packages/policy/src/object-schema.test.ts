import { describe, expect, it } from 'vitest';
import { parametersForModels } from './object-schema.js';

const kind = (name: string, more: object = {}, required: string[] = []) => ({
  type: 'object',
  properties: { kind: { const: name }, ...more },
  required: ['kind', ...required],
  additionalProperties: false,
});

describe('parametersForModels', () => {
  it('leaves a schema that has the form as it is', () => {
    const schema = { type: 'object', properties: { a: { anyOf: [{ type: 'string' }] } } };
    expect(parametersForModels(schema)).toBe(schema);
  });

  it('puts a union of objects into one object, and says what goes together', () => {
    const text = { text: { type: 'string' } };
    const schema = {
      description: 'What to do.',
      oneOf: [kind('say', text, ['text']), kind('wait', { ms: { type: 'number' } }, ['ms'])],
    };
    expect(parametersForModels(schema)).toEqual({
      type: 'object',
      description: 'What to do. Give the properties of one of these: (kind, text), (kind, ms).',
      properties: {
        kind: { type: 'string', enum: ['say', 'wait'] },
        text: { type: 'string' },
        ms: { type: 'number' },
      },
      required: ['kind'],
      additionalProperties: false,
    });
  });

  it.each<[string, object, object]>([
    ['nothing', {}, { type: 'object', properties: {} }],
    ['a type beside null', { type: ['object', 'null'] }, { type: 'object', properties: {} }],
    [
      'all of several',
      {
        allOf: [
          { properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { a: { minLength: 1 }, b: {} }, required: ['b'] },
        ],
      },
      {
        type: 'object',
        properties: { a: { allOf: [{ type: 'string' }, { minLength: 1 }] }, b: {} },
        required: ['a', 'b'],
      },
    ],
    [
      'references, also to itself, and to nowhere',
      {
        $ref: '#/$defs/a',
        $defs: { a: { anyOf: [{ $ref: '#' }, { properties: { x: {} } }, { $ref: '#/gone' }] } },
      },
      {
        type: 'object',
        $defs: { a: { anyOf: [{ $ref: '#' }, { properties: { x: {} } }, { $ref: '#/gone' }] } },
        properties: { x: {} },
      },
    ],
    [
      'a requirement in branches beside properties',
      {
        type: 'object',
        properties: { a: {}, b: {} },
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
        not: { required: ['c'] },
      },
      {
        type: 'object',
        description: 'Give the properties of one of these: (a), (b).',
        properties: { a: {}, b: {} },
      },
    ],
    [
      'branches that are no objects',
      { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: {} }, required: ['a'] }] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
    ],
  ])('gives an object for %s', (_, schema, told) => {
    expect(parametersForModels({ ...schema })).toEqual(told);
  });
});
