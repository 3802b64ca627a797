import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyText, collectGarbage } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine, cleanText } from './clean-text.js';
import { shorten, takeEnd, takeStart } from './cut-text.js';

describe('takeStart and takeEnd', () => {
  it.each([
    ['abc', 5, 'abc', 'abc'],
    ['abc', 2, 'ab', 'bc'],
    ['abc', 0, '', ''],
    ['abc', -1, '', ''],
    ['🙂b🙂', 1, '', ''],
    ['🙂b🙂', 2, '🙂', '🙂'],
    ['🙂b🙂', 4, '🙂b', 'b🙂'],
    ['\udc00a\ud800', 5, '\udc00a', 'a\ud800'],
  ])('of %j with %i characters are %j and %j', (text, max, start, end) => {
    expect([takeStart(text, max), takeEnd(text, max)]).toEqual([start, end]);
  });

  fuzz(
    'are whole characters, and no fewer than fit',
    fc.tuple(anyText(), fc.nat(20)),
    ([text, max]) => {
      const whole = text.toWellFormed();
      for (const part of [takeStart(whole, max), takeEnd(whole, max)]) {
        expect(part.isWellFormed()).toBe(true);
        expect(part.length).toBeLessThanOrEqual(max);
        expect(part.length).toBeGreaterThanOrEqual(Math.min(max, whole.length) - 1);
      }
      expect(whole.startsWith(takeStart(whole, max)) && whole.endsWith(takeEnd(whole, max))).toBe(
        true,
      );
    },
  );
});

it.each([
  ['a🙂b', 4, undefined, 'a🙂b'],
  ['a🙂b', 2, undefined, 'a…'],
  ['abc', 2, ' [cut]', 'ab [cut]'],
])('shorten of %j to %i with the mark %j is %j', (text, max, mark, short) => {
  expect(shorten(text, max, mark)).toBe(short);
});

it.each([
  ['takeStart', takeStart],
  ['shorten', shorten],
  ['cleanText', cleanText],
  ['cleanLine', cleanLine],
])('%s keeps nothing of a long text in memory but the part', (_name, part) => {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const parts = Array.from({ length: 20 }, (_, at) => part(`${at}${'x'.repeat(5_000_000)}`, 500));
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(30_000_000);
  expect(new Set(parts).size).toBe(20);
});
