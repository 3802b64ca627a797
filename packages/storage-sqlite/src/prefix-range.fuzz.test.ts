import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { prefixUpperBound } from './prefix-range.js';

const MAX = '\u{10ffff}';
const unit = fc.constantFrom('a', 'b', '\0', '\x7f', '\ud7ff', '\ue000', '\uffff', '😀', MAX);
const text = fc.oneof(fc.string({ unit, maxLength: 4 }), anyText({ maxLength: 4 }));

describe('prefixUpperBound, whatever the prefix', () => {
  fuzz(
    'parts exactly the texts that start with the prefix from those that sort after it',
    fc.tuple(
      text,
      fc.oneof(
        text,
        fc.tuple(text, text).map((parts) => parts.join('')),
      ),
    ),
    ([prefix, key]) => {
      const bound = prefixUpperBound(prefix);
      expect(typeof bound !== 'string' || bound.isWellFormed()).toBe(true);
      const below =
        typeof bound !== 'string' || Buffer.compare(Buffer.from(key), Buffer.from(bound)) < 0;
      const atOrAbove = Buffer.compare(Buffer.from(key), Buffer.from(prefix)) >= 0;
      expect(atOrAbove && below).toBe(key.startsWith(prefix));
    },
    { promised: 'key-value', runs: { check: 100, long: 100_000 } },
  );

  growsLinearly('takes linear time', (size) => MAX.repeat(size / 2), prefixUpperBound);
});
