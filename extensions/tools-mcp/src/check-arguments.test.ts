import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { argumentProblem } from './check-arguments.js';

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    count: { type: 'integer' },
    mode: { type: 'string', enum: ['fast', 'slow'] },
    any: {},
    yes: { type: 'boolean' },
    level: { type: 'integer', enum: [1, 2] },
    either: { type: ['string', 'null'] },
    odd: { type: 'wonder' },
  },
  required: ['path'],
  additionalProperties: false,
};

describe('argumentProblem', () => {
  it.each([
    ['a text', 'x', 'expected an object, not a value of type string'],
    ['nothing', undefined, 'expected an object, not missing'],
    ['no path', {}, 'path is missing (string)'],
    ['a word for a number', { path: '', count: 'many' }, 'count is a value of type string'],
    ['no number', { path: '', count: '' }, 'count is a value of type string, expected integer'],
    ['a word for a boolean', { path: '', yes: 'maybe' }, 'yes is a value of type string'],
    ['a fraction', { path: '', count: 1.5 }, 'count is a value of type number, expected integer'],
    ['another mode', { path: '', mode: 'x' }, 'mode is none of "fast", "slow"'],
    ['a list', { path: [] }, 'path is an array, expected string'],
    ['an unknown one', { path: '', x: 1 }, 'x is no argument; there are path, count'],
    ['__proto__', JSON.parse('{"path":"","__proto__":1}'), '__proto__ is no argument'],
    ['null', { path: null }, 'path is null, expected string'],
  ])('says what is wrong with %s', (_name, args, problem) => {
    expect(argumentProblem(schema, args)).toContain(problem);
  });

  it.each([
    ['what fits', { path: 'a', count: 1, mode: 'fast', any: [], either: null, odd: 1 }],
    ['what is left out', { path: 'a' }],
    ['a number in a text, which a server may read', { path: 'a', count: '5', either: '' }],
    ['a text in a number', { path: 5 }],
    ['booleans in texts and numbers', { path: true, yes: 'True' }],
    ['an option in another type', { path: 'a', level: '2' }],
  ])('has nothing against %s', (_name, args) => {
    expect(argumentProblem(schema, args)).toBeUndefined();
  });

  it.each([
    ['no properties', {}],
    ['invalid properties', { properties: [], required: 'path' }],
    ['pattern properties', { additionalProperties: false, patternProperties: { '^x': {} } }],
    ['a property of true', { properties: { x: true }, additionalProperties: false }],
    ['required of numbers', { required: [1] }],
  ])('leaves a schema with %s to the server', (_name, odd) => {
    expect(argumentProblem(odd, { x: 1 })).toBeUndefined();
  });

  fuzz(
    'never throws, whatever the schema',
    fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.anything()),
    ([odd, args]) => {
      expect(['string', 'undefined']).toContain(typeof argumentProblem(odd, args));
    },
  );
});
