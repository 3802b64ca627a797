import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine, cleanLines } from './clean-text.js';

describe('cleanLine', () => {
  it.each([
    ['  a  b\t\tc \n', 'a b c'],
    ['a\r\nb\u2028c\u0085d', 'a b cd'],
    ['\u001b]0;title\u0007x', ']0;titlex'],
    ['ab\u202ecd\u2066ef\u{e0041}', 'abcdef'],
    ['a \u200b b', 'a b'],
    ['żółć 漢字 👩‍💻', 'żółć 漢字 👩‍💻'],
    ['می‌خواهم', 'می‌خواهم'],
    ['\u200b \ufeff', ''],
  ])('%j -> %j', (text, clean) => {
    expect(cleanLine(text)).toBe(clean);
  });
});

describe('cleanLines', () => {
  it.each([
    ['a\r\nb\rc\nd', 'a\nb\nc\nd'],
    ['\n\n  a  \n\n\tb \n', 'a\n\n  b'],
    ['a\u2029b\u0000', 'a\nb'],
  ])('%j -> %j', (text, clean) => {
    expect(cleanLines(text)).toBe(clean);
  });
});

fuzz(
  'what is cleaned has no control or bidirectional characters, and cleaning again changes nothing',
  fc.string({
    unit: fc.oneof(
      fc.constantFrom(...' \n\r\t\u2028\u202e\u0000\u200b'),
      anyText({ minLength: 1, maxLength: 1 }),
    ),
  }),
  (text) => {
    for (const clean of [cleanLine, cleanLines]) {
      const once = clean(text);
      expect(once.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
      expect(clean(once)).toBe(once);
    }
    expect(cleanLine(text)).not.toContain('\n');
  },
);
