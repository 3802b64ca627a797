import { MAX_PLAIN_DEPTH } from '@ethosagent/policy';
import { isLongRun } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyPlain, deepFreeze, MAX_VALUES } from './plain.js';

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function cyclic(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}

describe('copyPlain', () => {
  it('copies what JSON can say, and shares nothing with the original', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = copyPlain(value);
        if (!copy.ok) return false;
        expect(JSON.stringify(copy.value)).toBe(
          JSON.stringify(JSON.parse(JSON.stringify(value), dropProto)),
        );
        return typeof value !== 'object' || value === null || copy.value !== value;
      }),
    );
  });

  it('takes what has a JSON form of its own by that', () => {
    const value = { at: new Date(0), where: new URL('http://a.example/') };
    expect(copyPlain(value)).toEqual({
      ok: true,
      value: { at: '1970-01-01T00:00:00.000Z', where: 'http://a.example/' },
    });
  });

  it.each([
    ['an object whose toJSON gives itself', selfJson(), 'cyclic'],
    ['a cycle', cyclic(), 'cyclic'],
    ['10,000 levels', nested(10_000), `deeper than ${MAX_PLAIN_DEPTH} levels`],
    ['a BigInt', { a: 1n }, '.a is a bigint'],
    ['a function', { a: [() => 1] }, '.a[0] is a function'],
    ['a symbol', Symbol('s'), 'is a symbol'],
    ['a Map', new Map(), 'is an instance of a class'],
    ['a DataView', { v: new DataView(new ArrayBuffer(1)) }, '.v is a DataView'],
    [
      'an array that claims a length of 4 billion',
      new Array(4_000_000_000),
      `${MAX_VALUES} values`,
    ],
  ])('says where %s is and why it is not plain', (_name, value, problem) => {
    expect(copyPlain(value)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });

  it.runIf(isLongRun())(
    'stops at a million values of a structure that multiplies by shared references',
    () => {
      let value: unknown = [1];
      for (let level = 0; level < 40; level++) value = [value, value];
      expect(copyPlain(value).ok).toBe(false);
    },
  );

  it('leaves out an own __proto__ key at any depth and keeps constructor', () => {
    const value: unknown = JSON.parse(
      '{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1},"constructor":"c"}}',
    );
    const copy = copyPlain(value);
    expect(copy).toEqual({ ok: true, value: { a: { constructor: 'c' } } });
    expect(Object.hasOwn(Object(copy.ok && copy.value), '__proto__')).toBe(false);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('copies of a Buffer only the bytes that it shows, not the memory around it', () => {
    const copy = copyPlain({ bytes: Buffer.from('abc') });
    const bytes: unknown = copy.ok && Reflect.get(Object(copy.value), 'bytes');
    expect(bytes).toEqual(new Uint8Array([97, 98, 99]));
    expect(bytes instanceof Uint8Array && bytes.buffer.byteLength).toBe(3);
  });

  it.each([
    ['Float32Array', new Float32Array([1.5, 2.5])],
    ['BigInt64Array', new BigInt64Array([1n])],
    ['Uint8Array', new Uint8Array([1, 2])],
  ])('copies a %s as one', (_name, view) => {
    const copy = copyPlain(view);
    expect(copy).toEqual({ ok: true, value: view });
    expect(copy.ok && copy.value).not.toBe(view);
  });

  it('applies mapString to strings and keys', () => {
    expect(copyPlain({ a: ['b', { c: 1 }] }, (text) => text.toUpperCase())).toEqual({
      ok: true,
      value: { A: ['B', { C: 1 }] },
    });
  });
});

describe('deepFreeze', () => {
  it('freezes objects and arrays all the way down', () => {
    const value = { a: [{ b: 1 }] };
    deepFreeze(value);
    expect(() => value.a.push({ b: 2 })).toThrow(TypeError);
    expect(() => Object.assign(value.a[0] ?? {}, { b: 2 })).toThrow(TypeError);
  });
});

function dropProto(this: unknown, key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}

function selfJson(): object {
  return new (class {
    toJSON() {
      return { again: this };
    }
  })();
}
