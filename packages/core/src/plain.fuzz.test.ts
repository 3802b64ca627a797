import { isDeepStrictEqual } from 'node:util';
import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { MAX_PLAIN_DEPTH } from '@ethosagent/policy';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { copyPlain, deepFreeze } from './plain.js';
import { wildValue } from './testing/wild-values.js';

/** Plain data, including values that a copy can express and JSON can't. */
const plain = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constantFrom(null, undefined, -0)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom('constructor', 'toString', 'length')),
      tie('value'),
      { maxKeys: 4, noNullPrototype: true },
    ),
    fc.constantFrom(new Uint8Array([1, 2]), new Float32Array([1.5])),
  ),
})).value;

/** All objects in a value, including itself. */
function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  if (ArrayBuffer.isView(value)) return;
  for (const child of Object.values(value)) yield* objectsIn(child);
}

const hasOwnProto = (value: unknown) =>
  [...objectsIn(value)].some((object) => Object.hasOwn(object, '__proto__'));

describe('copyPlain, whatever the value', () => {
  fuzz(
    'is what structuredClone makes of plain data, and shares nothing with it',
    plain,
    (value) => {
      if (hasOwnProto(value)) return;
      const copy = copyPlain(value);
      expect(isDeepStrictEqual(copy, { ok: true, value: structuredClone(value) })).toBe(true);
      const before = new Set(objectsIn(value));
      for (const object of objectsIn(copy.ok && copy.value)) expect(before.has(object)).toBe(false);
    },
    { promised: 'batches', runs: { check: 100, long: 50_000 } },
  );

  fuzz(
    'never throws, pollutes nothing, and what it takes is plain',
    wildValue,
    (make) => {
      const copy = copyPlain(make());
      expect(Object.keys(Object.prototype)).toEqual([]);
      if (!copy.ok) return expect(copy.problem).toBeTypeOf('string');
      expect(isDeepStrictEqual(structuredClone(copy.value), copy.value)).toBe(true);
      for (const object of objectsIn(copy.value)) {
        expect(Object.hasOwn(object, '__proto__')).toBe(false);
        const isPlain = Array.isArray(object) || ArrayBuffer.isView(object);
        if (!isPlain) expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
      }
    },
    { promised: 'batches', runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'applies mapString to every text, and is not fooled by a key that becomes another',
    fc.tuple(
      plain,
      fc.constantFrom<(text: string) => string>(
        () => '__proto__',
        (text) => text.replace('to', '__proto__'),
        () => '',
        (text) => `${text}x`,
      ),
    ),
    ([value, mapString]) => {
      const copy = copyPlain(value, mapString);
      expect(copy.ok).toBe(true);
      for (const object of objectsIn(copy.ok && copy.value)) {
        if (Array.isArray(object) || ArrayBuffer.isView(object)) continue;
        expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
      }
    },
    { promised: 'batches', corpus: [[{ a: { polluted: 1 } }, () => '__proto__']] },
  );

  fuzz('what was frozen can not be changed anywhere', plain, (value) => {
    const copy = copyPlain(value);
    for (const object of objectsIn(deepFreeze(copy.ok && copy.value))) {
      expect(ArrayBuffer.isView(object) || Object.isFrozen(object)).toBe(true);
    }
  });

  const HOSTILE: Record<string, (size: number) => unknown> = {
    'a long list': (size) => Array.from({ length: size }, () => ({ a: 1 })),
    'many keys': (size) =>
      Object.fromEntries(Array.from({ length: size }, (_, at) => [`k${at}`, at])),
    depth: (size) => {
      let value: unknown = 1;
      for (let level = 0; level < size; level += 1) value = { value };
      return value;
    },
    'shared references': (size) => {
      let value: unknown = [1];
      for (let level = 0; level < Math.min(Math.log2(size), MAX_PLAIN_DEPTH); level += 1)
        value = [value, value];
      return value;
    },
    'one long text': (size) => 'x'.repeat(size),
  };
  for (const [what, inputOf] of Object.entries(HOSTILE)) {
    growsLinearly(`takes linear time for ${what}`, inputOf, (value) => copyPlain(value));
  }
});
