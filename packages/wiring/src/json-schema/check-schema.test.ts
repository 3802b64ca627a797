import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSchema } from './check-schema.js';

const problemOf = async (schema: Record<string, unknown>, args: unknown) =>
  (await checkSchema(schema))(args);

const city = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 2 },
    days: { type: 'array', items: { type: 'integer', maximum: 14 } },
    mail: { type: 'string', format: 'email' },
    unit: { enum: ['c', 'f'] },
  },
  required: ['city'],
  additionalProperties: false,
};

describe('checkSchema', () => {
  it.each([
    ['a missing property', {}, "must have required property 'city'"],
    ['another type', { city: 1 }, 'city: must be string'],
    ['a place in a list', { city: 'Rome', days: [1, 20] }, 'days[1]: must be <= 14'],
    ['a format', { city: 'Rome', mail: 'nobody' }, 'mail: must match format "email"'],
    [
      'no choice',
      { city: 'Rome', unit: 'k' },
      'unit: must be equal to one of the allowed values: ["c","f"]',
    ],
    ['a property too many', { city: 'Rome', x: 1 }, 'must NOT have additional properties: "x"'],
    [
      'all that is wrong',
      { city: 'R', unit: 'k' },
      'city: must NOT have fewer than 2 characters; unit',
    ],
    ['no object', 'Rome', 'must be object'],
    ['null', null, 'must be object'],
  ])('says %s', async (_, args, problem) => {
    expect(await problemOf(city, args)).toContain(problem);
  });

  it('has nothing against what fits, and changes nothing of it', async () => {
    const args = Object.freeze({ city: 'Rome', days: Object.freeze([1]), mail: 'a@b.example' });
    expect(await problemOf(city, args)).toBeUndefined();
  });

  it.each(['toString', 'constructor', '__proto__'])(
    'takes no %s from the prototype for a property',
    async (name) => {
      const schema = { type: 'object', required: [name] };
      expect(await problemOf(schema, {})).toContain(name);
      expect(await problemOf(schema, JSON.parse(`{"${name}":1}`))).toBeUndefined();
    },
  );

  it('reads a tuple as the draft says that the schema names', async () => {
    const $schema = 'http://json-schema.org/draft-07/schema#';
    const old = { $schema, items: [{ type: 'string' }], additionalItems: false };
    const latest = { prefixItems: [{ type: 'string' }], items: false };
    for (const schema of [old, latest]) {
      expect(await problemOf(schema, ['a'])).toBeUndefined();
      expect(await problemOf(schema, [1])).toContain('[0]: must be string');
      expect(await problemOf(schema, ['a', 'b'])).toContain('must NOT have more than 1 items');
    }
  });

  it('lets two schemas have one $id', async () => {
    const first = { $id: 'https://tools.example/one', type: 'string' };
    const second = { $id: 'https://tools.example/one', type: 'number' };
    expect(await problemOf(first, 1)).toContain('must be string');
    expect(await problemOf(second, 1)).toBeUndefined();
  });

  it.each([
    ['a wrong keyword', { type: 'nothing' }],
    ['a broken pattern', { pattern: '(' }],
    ['a reference that leads out', { $ref: 'http://127.0.0.1:1/schema.json' }],
  ])('throws for %s', async (_, schema) => {
    await expect(checkSchema(schema)).rejects.toThrow();
  });

  const twice = (name: string) => ({ properties: { x: { $ref: `#/$defs/${name}` } } });
  const defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      at === 39 ? { const: 'never' } : { anyOf: [twice(`d${at + 1}`), twice(`d${at + 1}`)] },
    ]),
  );
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { x: deep(levels - 1) });
  it.each([
    ['a pattern that backtracks', { pattern: '^(a+)+$' }, `${'a'.repeat(60)}b`],
    [
      'a property name that backtracks',
      { patternProperties: { '^(a+)+$': {} } },
      { [`${'a'.repeat(60)}b`]: 1 },
    ],
    ['alternatives at each level', { $defs: defs, $ref: '#/$defs/d0' }, deep(39)],
  ])('ends %s when its time is up, and refuses', async (_, schema, args) => {
    const check = await checkSchema(schema, { timeoutMs: 50 });
    expect(check(args)).toMatch(/could not be checked.*timed out after 50ms; give shorter ones/);
    // The next check works as before.
    expect((await checkSchema({ pattern: '^b$' }))('b')).toBeUndefined();
  });

  it('shows nothing of what was refused, and no more than is read', async () => {
    const secret = 'sk-live-0123456789abcdef';
    const problem = await problemOf({ properties: { key: { type: 'number' } } }, { key: secret });
    expect(problem).not.toContain(secret);
    const many = await problemOf(
      { items: { type: 'string' } },
      Array.from({ length: 1_000 }, () => 1),
    );
    expect(many).toMatch(/; and 950 more$/);
  });

  fuzz('never throws, whatever the arguments', fc.anything(), async (args) => {
    const check = await checkSchema({
      ...city,
      patternProperties: { '^z': { $ref: '#/properties/city' } },
    });
    return ['string', 'undefined'].includes(typeof check(args));
  });
});
