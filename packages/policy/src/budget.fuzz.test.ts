import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  DEFAULT_RESULT_BUDGET_CHARS,
  resolveCallBudget,
  TRUNCATION_MARKER,
  truncateToBudget,
} from './budget.js';

const wildNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0, 0.5, -0.5),
);

describe('resolveCallBudget, whatever the numbers', () => {
  fuzz(
    'is a whole number from 0 to the share and to the cap of the tool',
    fc.tuple(
      fc.option(wildNumber, { nil: undefined }),
      wildNumber,
      fc.option(wildNumber, { nil: undefined }),
    ),
    ([total, calls, cap]) => {
      const budget = resolveCallBudget(total, calls, cap);
      expect(Number.isInteger(budget) && budget >= 0).toBe(true);
      const isGiven = total !== undefined && Number.isFinite(total);
      const whole = isGiven ? Math.max(total, 0) : DEFAULT_RESULT_BUDGET_CHARS;
      expect(budget).toBeLessThanOrEqual(whole);
      if (calls >= 1) expect(budget).toBeLessThanOrEqual(whole / Math.floor(calls));
      if (cap !== undefined && Number.isFinite(cap)) {
        expect(budget).toBeLessThanOrEqual(Math.max(cap, 0));
      }
    },
  );

  fuzz(
    'is what the contract says for sane numbers',
    fc.tuple(fc.nat(), fc.nat(200), fc.nat()),
    ([total, calls, cap]) => {
      const share = Math.floor(total / Math.max(calls, 1));
      expect(resolveCallBudget(total, calls, cap)).toBe(Math.min(share, cap));
      expect(resolveCallBudget(total, calls)).toBe(share);
    },
  );
});

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({
    unit: fc.constantFrom('a', '😀', '\ud83d', '\ude00', '\n', '\u0301'),
    maxLength: 30,
  }),
);

describe('truncateToBudget, whatever the text', () => {
  fuzz(
    'keeps as long a well-formed prefix as fits, and says how long the text was',
    fc.tuple(text, fc.oneof(fc.nat(30), wildNumber)),
    ([given, budget]) => {
      const clean = given.toWellFormed();
      const cut = truncateToBudget(given, budget);
      expect(cut.isWellFormed()).toBe(true);
      if (clean.length <= budget) return expect(cut).toBe(clean);
      expect(TRUNCATION_MARKER.exec(cut)?.[1]).toBe(String(clean.length));
      const kept = cut.replace(TRUNCATION_MARKER, '');
      const room = budget >= 1 ? Math.floor(budget) : 0;
      expect(clean.startsWith(kept)).toBe(true);
      expect(kept.length).toBeLessThanOrEqual(room);
      // One character less only if a surrogate pair would have been split.
      expect(kept.length).toBeGreaterThanOrEqual(room - 1);
      if (kept.length < room) expect(clean.codePointAt(kept.length)).toBeGreaterThan(0xffff);
    },
    {
      runs: { check: 100, long: 100_000 },
      corpus: [
        ['hello world', -5],
        ['hello', Number.NaN],
        ['a😀b', 2],
        ['a😀b', 2.9],
        ['\ud83d\ud83d', 1],
      ],
    },
  );

  fuzz('leaves what fits and is well-formed as it is', fc.string({ unit: 'grapheme' }), (honest) =>
    expect(truncateToBudget(honest, honest.length)).toBe(honest),
  );

  growsLinearly(
    'takes linear time',
    (size) => '\ud83d'.repeat(size),
    (text) => truncateToBudget(text, text.length / 2),
  );
});
