import { tries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import {
  hasInvisible,
  showHidden,
  showInvisible,
  withoutHidden,
  withoutInvisible,
} from './invisible.js';

/** All characters that any part of this project once treated as invisible. */
const INVISIBLE: readonly (readonly [first: number, last: number])[] = [
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x13430, 0x1343f],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];
const points = INVISIBLE.flatMap(([first, last]) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index),
);
/**
 * Signs before a number in Arabic and similar scripts. They are format characters and still
 * visible.
 */
const SEEN = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;

describe('characters that nobody sees', () => {
  it('are taken out, found and shown wherever they are needed by nothing', () => {
    for (const point of points) {
      const text = `a${String.fromCodePoint(point)}b`;
      const number = point.toString(16).toUpperCase().padStart(4, '0');
      expect([
        number,
        withoutInvisible(text),
        hasInvisible(text),
        showInvisible(text),
        showHidden(text),
        withoutHidden(text),
      ]).toEqual([number, 'ab', true, `a<U+${number}>b`, `a<U+${number}>b`, 'ab']);
    }
  });

  it('are these, and every other format character is one that people see', () => {
    const known = new Set(points);
    // Above this are ideographs, unassigned characters and the tags, which are tested above.
    const last = tries({ check: 0x1ffff, long: 0x10ffff });
    for (let point = 0; point <= last; point += 1) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const character = String.fromCodePoint(point);
      const isInvisible = hasInvisible(`a${character}`);
      if (isInvisible !== known.has(point)) expect.fail(`U+${point.toString(16)}: ${isInvisible}`);
      if (/\p{Cf}/u.test(character) && !isInvisible && !SEEN.test(character)) {
        expect.fail(`U+${point.toString(16)} is a format character`);
      }
    }
  });

  it.each([
    ['an emoji of two', '👩‍🚀🏳️‍🌈'],
    ['text or emoji', '❤️▶︎'],
    ['a keycap', '1️⃣'],
    ['a flag of tags', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['Persian', 'می‌خواهم'],
    ['Hindi', 'क्‍ष'],
    ['Mongolian', 'ᠠ᠋'],
    ['hieroglyphs in a group', '\u{13000}\u{13430}\u{13001}'],
    ['a number sign of Arabic', '\u06dd12'],
  ])('stay where %s needs them', (_, text) => {
    expect([withoutInvisible(text), hasInvisible(text), showInvisible(text)]).toEqual([
      text,
      false,
      text,
    ]);
  });

  it.each([
    ['many joiners', 'م\u200c\u200c\u200c', 'م\u200c'],
    ['selectors behind a letter', 'a\ufe0f\ufe0e', 'a'],
    ['tags that spell something', '🏴\u{e0068}\u{e0069}\u{e007f}', '🏴'],
    [
      'many controls of hieroglyphs',
      `\u{13000}${'\u{13430}'.repeat(9)}`,
      `\u{13000}${'\u{13430}'.repeat(3)}`,
    ],
  ])('hide nothing as %s', (_, text, visible) => {
    expect(withoutInvisible(text)).toBe(visible);
  });
});

it('ends of lines stay, are shown by number, and have no place in a name', () => {
  const text = 'a\nb\u2028c\u2029d\u0085e';
  expect(withoutInvisible(text)).toBe(text);
  expect(showInvisible(text)).toBe('a\nb<U+2028>c<U+2029>d\u0085e');
  expect(showHidden(text)).toBe('a<U+000A>b<U+2028>c<U+2029>d<U+0085>e');
  expect(withoutHidden(`${text}\ud800`)).toBe('abcde');
  // With nothing outside ASCII.
  expect(showHidden('a\nb\u007fc')).toBe('a<U+000A>b<U+007F>c');
  expect(withoutHidden('a\nb\u007fc')).toBe('abc');
});
