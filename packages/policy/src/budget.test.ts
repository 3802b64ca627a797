import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_RESULT_BUDGET_CHARS, resolveCallBudget, truncateToBudget } from './budget.js';

describe('resolveCallBudget', () => {
  it.each([
    [80_000, 1, undefined, 80_000],
    [80_000, 3, undefined, 26_666],
    [80_000, 0, undefined, 80_000],
    [80_000, 2, 100, 100],
    [100, 2, 1000, 50],
    [undefined, 1, undefined, DEFAULT_RESULT_BUDGET_CHARS],
    [Number.NaN, 1, undefined, DEFAULT_RESULT_BUDGET_CHARS],
    [Number.POSITIVE_INFINITY, 1, undefined, DEFAULT_RESULT_BUDGET_CHARS],
    [-5, 1, undefined, 0],
    [0, 1, undefined, 0],
    [100, 1, -1, 0],
    [100, 1, Number.NaN, 100],
  ])('total %s over %s calls, tool cap %s: %s', (total, calls, cap, expected) => {
    expect(resolveCallBudget(total, calls, cap)).toBe(expected);
  });
});

describe('truncateToBudget', () => {
  it.each([
    ['short', 10, 'short'],
    ['exact', 5, 'exact'],
    ['too long', 3, 'too\n[truncated -- 8 chars total]'],
    ['a😀b', 2, 'a\n[truncated -- 4 chars total]'],
    ['a😀b', 3, 'a😀\n[truncated -- 4 chars total]'],
    ['abc', 0, '\n[truncated -- 3 chars total]'],
    ['\ud800', 5, '\ufffd'],
  ])('%j at %s', (text, budget, expected) => {
    expect(truncateToBudget(text, budget)).toBe(expected);
  });

  it('gives well-formed text: a prefix within the budget, and the marker', () => {
    fc.assert(
      fc.property(anyText(), fc.nat(60), (text, budget) => {
        const cut = truncateToBudget(text, budget);
        expect(cut.isWellFormed()).toBe(true);
        const clean = text.toWellFormed();
        if (clean.length <= budget) {
          expect(cut).toBe(clean);
          return;
        }
        const kept = cut.slice(0, cut.lastIndexOf('\n[truncated -- '));
        expect(kept.length).toBeLessThanOrEqual(budget);
        expect(kept.length).toBeGreaterThanOrEqual(budget - 1);
        expect(clean.startsWith(kept)).toBe(true);
      }),
    );
  });
});
