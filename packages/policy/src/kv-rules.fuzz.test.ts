import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { readCorpus } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  assertKvKey,
  assertKvValue,
  compareCodePoints,
  DEFAULT_KV_LIMITS,
  incrementKvValue,
  kvExpiresAt,
} from './kv-rules.js';

const corpus = readCorpus<{ incrementKvValue: string[] }>(
  new URL('./fixtures/corpus/kv-rules.json', import.meta.url),
);
const LIMITS = { maxKeyBytes: 12, maxValueBytes: 24 };
const unit = fc.constantFrom(
  'a',
  '\0',
  '\x7f',
  'é',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '😀',
  '\u{10ffff}',
);
const text = fc.string({ unit, maxLength: 12 });
const brokenText = fc.string({
  unit: fc.constantFrom('a', 'é', '\ud800', '\udc00', '😀'),
  maxLength: 12,
});

/** The answer of a call, or the code of its error. */
function outcome(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return typeof error === 'object' && error !== null && 'code' in error ? error.code : error;
  }
}

describe('keys and values, whatever they are', () => {
  fuzz(
    'are taken exactly when they survive UTF-8 and fit',
    fc.oneof(text, brokenText, fc.anything()),
    (value) => {
      const bytes = typeof value === 'string' ? Buffer.from(value) : undefined;
      const survives = bytes?.toString() === value;
      const fits = (cap: number) => survives && bytes !== undefined && bytes.length <= cap;
      expect(outcome(() => assertKvKey(value, LIMITS))).toBe(fits(12) ? undefined : 'KEY_INVALID');
      expect(outcome(() => assertKvValue(value, LIMITS))).toBe(
        fits(24) ? undefined : 'VALUE_INVALID',
      );
    },
    { runs: { check: 100, long: 100_000 } },
  );

  growsLinearly(
    'take linear time',
    (size) => '\u{1f600}'.repeat(size / 2),
    (text) => assertKvValue(text, DEFAULT_KV_LIMITS),
  );
});

describe('compareCodePoints, whatever the texts', () => {
  fuzz(
    'orders as UTF-8 bytes do',
    fc.tuple(text, text),
    ([a, b]) => {
      expect(Math.sign(compareCodePoints(a, b))).toBe(
        Buffer.compare(Buffer.from(a), Buffer.from(b)),
      );
    },
    { runs: { check: 100, long: 100_000 } },
  );
});

describe('kvExpiresAt, whatever the time to live', () => {
  const now = fc.oneof(
    fc.nat(),
    fc.constant(Date.UTC(2026, 10, 22)),
    fc.double({ min: 0, max: 1e14, noNaN: true }),
  );

  fuzz(
    'is a moment after now, as far off as was asked, or TTL_INVALID',
    fc.tuple(fc.oneof(fc.double(), fc.anything()), now),
    ([ttl, now]) => {
      const at = outcome(() => kvExpiresAt(ttl, now));
      if (ttl === undefined) return expect(at).toBeNull();
      if (typeof at !== 'number') return expect(at).toBe('TTL_INVALID');
      expect(Number.isSafeInteger(at) && at > Math.floor(now)).toBe(true);
      expect(typeof ttl === 'number' && Math.abs(at - Math.floor(now) - ttl * 1000) <= 1).toBe(
        true,
      );
    },
  );

  fuzz(
    'takes every sane time to live',
    fc.tuple(fc.double({ min: 0.0001, max: 1e9, noNaN: true }), now),
    ([ttl, now]) => expect(kvExpiresAt(ttl, now)).toBeTypeOf('number'),
  );
});

describe('incrementKvValue, whatever the operands', () => {
  const edge = fc.oneof(
    fc.maxSafeInteger(),
    fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, -0, 1, -1),
  );
  const isSafe = (number: bigint) =>
    number <= BigInt(Number.MAX_SAFE_INTEGER) && number >= BigInt(Number.MIN_SAFE_INTEGER);

  fuzz('adds as big integers do, or refuses', fc.tuple(fc.option(edge), edge), ([current, by]) => {
    const sum = BigInt(current ?? 0) + BigInt(by);
    const added = outcome(() => incrementKvValue(current === null ? null : `${current}`, by));
    expect(added).toBe(isSafe(sum) ? Number(sum) : 'VALUE_INVALID');
  });

  fuzz(
    'reads back what it wrote, and nothing that it would not have written',
    fc.oneof(
      fc.string({ unit: fc.constantFrom(...'0123456789-+.e nx'), maxLength: 18 }),
      fc.string(),
    ),
    (current) => {
      const added = outcome(() => incrementKvValue(current, 0));
      const isWritten =
        /^-?\d+$/.test(current) &&
        BigInt(current).toString() === current &&
        isSafe(BigInt(current));
      expect(added).toBe(isWritten ? Number(current) : 'VALUE_INVALID');
    },
    { corpus: corpus.incrementKvValue },
  );

  fuzz('refuses any step that is no safe integer', fc.anything(), (by) => {
    if (!Number.isSafeInteger(by))
      expect(outcome(() => incrementKvValue('1', by))).toBe('VALUE_INVALID');
  });
});
