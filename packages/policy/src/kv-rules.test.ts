import { anyText } from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assertKvKey,
  assertKvValue,
  compareCodePoints,
  DEFAULT_KV_LIMITS,
  incrementKvValue,
  kvExpiresAt,
} from './kv-rules.js';

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return errorCodeOf(error);
  }
  return undefined;
}

const limits = { maxKeyBytes: 6, maxValueBytes: 9 };

describe('assertKvKey and assertKvValue', () => {
  it.each(['', 'a', '\0', "'%_*", '😀', '€€', 'abcdef'])('accept %j', (text) => {
    expect(codeOf(() => assertKvKey(text, limits))).toBeUndefined();
    expect(codeOf(() => assertKvValue(text, limits))).toBeUndefined();
  });

  it.each([
    'abcdefg',
    '€€a',
    '😀😀',
    'a\ud800',
    '\udc00b',
    undefined,
    null,
    1,
    true,
    {},
    ['a'],
    Object('a'),
  ])('assertKvKey refuses %j', (text) => {
    expect(codeOf(() => assertKvKey(text, limits))).toBe('KEY_INVALID');
  });

  it.each(['abcdefghij', '€€€a', '\ud800', undefined, null, 1, {}])(
    'assertKvValue refuses %j',
    (text) => {
      expect(codeOf(() => assertKvValue(text, limits))).toBe('VALUE_INVALID');
    },
  );

  it('the default key cap holds 60,000 characters of four bytes', () => {
    expect(codeOf(() => assertKvKey('😀'.repeat(60_000), DEFAULT_KV_LIMITS))).toBeUndefined();
  });
});

describe('kvExpiresAt', () => {
  it.each([
    [undefined, null],
    [1, 6000],
    [1.5, 6500],
    [0.07, 5070],
    [0.0001, 5001],
    [Number.MIN_VALUE, 5001],
  ])('%j seconds from 5000 ms is %j', (ttl, expected) => {
    expect(kvExpiresAt(ttl, 5000)).toBe(expected);
  });

  it.each([Number.NaN, 0, -0, -1, Infinity, -Infinity, 1e300, '1', null, true, {}, 1n])(
    'refuses %s',
    (ttl) => {
      expect(codeOf(() => kvExpiresAt(ttl, 5000))).toBe('TTL_INVALID');
    },
  );

  it('counts from a whole millisecond when the clock has fractions', () => {
    expect(kvExpiresAt(1, 5000.75)).toBe(6000);
  });
});

describe('incrementKvValue', () => {
  it.each([
    [null, 1, 1],
    ['0', -5, -5],
    ['41', 1, 42],
    ['-1', 1, 0],
    ['9007199254740990', 1, Number.MAX_SAFE_INTEGER],
  ])('%j by %j is %j', (current, by, sum) => {
    expect(incrementKvValue(current, by)).toBe(sum);
  });

  it.each([
    ['', 1],
    ['1.0', 1],
    ['1e3', 1],
    [' 1', 1],
    ['1\n', 1],
    ['-0', 1],
    ['01', 1],
    ['0x1', 1],
    ['٣', 1],
    ['9007199254740992', -1],
    ['99999999999999999999', 1],
    ['9007199254740991', 1],
    ['-9007199254740991', -1],
    ['1', 0.5],
    ['1', Number.NaN],
    ['1', Infinity],
    ['1', '1'],
    [null, 2 ** 53],
  ])('refuses %j by %j', (current, by) => {
    expect(codeOf(() => incrementKvValue(current, by))).toBe('VALUE_INVALID');
  });
});

describe('compareCodePoints', () => {
  it('orders as the UTF-8 bytes do', () => {
    const text = anyText({ maxLength: 6 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(
          Buffer.compare(Buffer.from(a), Buffer.from(b)),
        );
      }),
      {
        examples: [
          ['\uffff', '😀'],
          ['😀a', '😀'],
          ['\ud7ff', '\ue000'],
          ['', '\0'],
        ],
      },
    );
  });
});
