import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { oneLine, plainLines } from './lines.js';

describe('oneLine', () => {
  it.each([
    ['a\nb', 'a b'],
    [' a\r\n\t b ', 'a b'],
    ['a\u0085URL: x', 'a URL: x'],
    ['a\u2028b\u2029c', 'a b c'],
    ['a\u0000\u001b[2Jb', 'a [2Jb'],
    ['\ud800A', '\ufffdA'],
    ['pass\u00adword', 'password'],
    ['a\u202eb\u200bc\u3164', 'abc'],
    ['👩‍🚀 می‌خ', '👩‍🚀 می‌خ'],
    ['1234567890abc', '1234567890…'],
    ['123456789🙂', '123456789…'],
    [`a${' '.repeat(100)}b`, 'a…'],
  ])('makes of %j %j', (text, line) => {
    expect(oneLine(text, 10)).toBe(line);
  });

  it('takes another mark for what was cut', () => {
    expect(oneLine('1234567890abc', 10, '')).toBe('1234567890');
  });

  fuzz('oneLine gives one line that is no longer than it may be', anyText(), (text) => {
    const line = oneLine(text, 20, '');
    expect(line).not.toMatch(/[\n\r\p{Cc}\u2028\u2029]/u);
    expect(line.length).toBeLessThanOrEqual(20);
    expect(line.isWellFormed()).toBe(true);
  });
});

it('plainLines knows every end of a line', () => {
  expect(plainLines('a\r\nb\rc\nd\u0085e\u2028f\u2029g').split('\n')).toEqual([...'abcdefg']);
});
