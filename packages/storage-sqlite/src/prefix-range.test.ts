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
});
