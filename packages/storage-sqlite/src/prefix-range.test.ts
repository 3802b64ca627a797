import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prefixUpperBound } from './prefix-range.js';

const MAX = '\u{10ffff}';

describe('prefixUpperBound', () => {
  it.each([
    ['a', 'b'],
    ['user:', 'user;'],
    ['a\0', 'a\x01'],
    ['\x7f', '\x80'],
    ['\ud7ff', '\ue000'],
    ['\uffff', '\u{10000}'],
    ['😀', '😁'],
    [`a${MAX}`, 'b'],
    [`😀${MAX}${MAX}`, '😁'],
    ['', Buffer.alloc(0)],
    [MAX, Buffer.alloc(0)],
    [MAX + MAX, Buffer.alloc(0)],
  ])('of %j is %j', (prefix, bound) => {
    expect(prefixUpperBound(prefix)).toEqual(bound);
  });

  it('parts exactly the texts that start with the prefix from those that sort after it', () => {
    const unit = fc.constantFrom('a', 'b', '\0', '\x7f', '\ud7ff', '\ue000', '\uffff', '😀', MAX);
    const text = fc.string({ unit, maxLength: 4 });
    fc.assert(
      fc.property(text, text, (prefix, key) => {
        const bound = prefixUpperBound(prefix);
        const below =
          typeof bound !== 'string' || Buffer.compare(Buffer.from(key), Buffer.from(bound)) < 0;
        const atOrAbove = Buffer.compare(Buffer.from(key), Buffer.from(prefix)) >= 0;
        expect(atOrAbove && below).toBe(key.startsWith(prefix));
      }),
      { numRuns: 1000 },
    );
  });
});
