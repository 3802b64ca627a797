import { describe, expect, it } from 'vitest';
import { usageOf } from './usage.js';

describe('usageOf', () => {
  it.each([
    ['what the provider counts', { inputTokens: 100, outputTokens: 10 }, [100, 0, 10, 220]],
    [
      'what it had cached, at its price',
      { inputTokens: 100, outputTokens: 10, cacheReadTokens: 40 },
      [100, 40, 10, 160],
    ],
    [
      'never more as cached than there was',
      { inputTokens: 5, outputTokens: 0, cacheReadTokens: 9 },
      [5, 5, 0, 2.5],
    ],
    ['an estimate where it does not count', {}, [25, 0, 3, 56]],
    [
      'an estimate where it counts nonsense',
      { inputTokens: Number.NaN, outputTokens: -1 },
      [25, 0, 3, 56],
    ],
  ])('is %s', (_name, usage, expected) => {
    const prices = { input: 2_000_000, cachedInput: 500_000, output: 2_000_000 };
    const chars = () => ({ input: 100, output: 10 });
    const { inputTokens, cachedInputTokens, outputTokens, costUsd } = usageOf(usage, chars, prices);
    expect([inputTokens, cachedInputTokens, outputTokens, costUsd]).toEqual(expected);
  });

  it('costs nothing without prices', () => {
    expect(
      usageOf({ inputTokens: 1, outputTokens: 1 }, () => ({ input: 0, output: 0 }), undefined),
    ).toMatchObject({
      costUsd: 0,
    });
  });
});
