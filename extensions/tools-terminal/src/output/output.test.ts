import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { cleanLine } from './clean-line.js';
import { HeadTail } from './head-tail.js';
import { LineCleaner } from './line-cleaner.js';
import { withoutLastLineEnds } from './without-last-line-ends.js';

const ESC = '\u001b';

describe('cleanLine', () => {
  const cases: [what: string, line: string, shown: string][] = [
    ['plain text', 'a\tb é 漢 🙂', 'a\tb é 漢 🙂'],
    ['colours', `${ESC}[1;31mred${ESC}[0m`, 'red'],
    ['movements of the cursor', `a${ESC}[2K${ESC}[1Gb`, 'ab'],
    ['links', `${ESC}]8;;http://x${ESC}\\text${ESC}]8;;${ESC}\\`, 'text'],
    ['titles', `${ESC}]0;title\u0007x`, 'x'],
    ['device control strings', `${ESC}Pq#0${ESC}\\x`, 'x'],
    ['half a sequence', `x${ESC}[`, 'x'],
    ['a string that never ends', `x${ESC}PFAIL: boom`, 'xFAIL: boom'],
    ['a title that never ends', `a ${ESC}]0;FAIL one two`, 'a 0;FAIL one two'],
    ['a title of eight bits that never ends', 'a\u009dFAIL', 'aFAIL'],
    ['a string that is too long', `${ESC}]${'x'.repeat(5000)}\u0007`, 'x'.repeat(5000)],
    ['a failure that is written over', 'FAIL: test a\rok', 'FAIL: test a\nok'],
    [
      'a failure that is written over in a progress bar',
      '1 error\r2 errors\r3 errors\rdone',
      '1 error\n2 errors\ndone',
    ],
    ['a failure that is gone back over', 'FAIL\b\b\b\bok', 'FAIL ok\nok'],
    [
      'what has no width, or turns the text',
      'a\u202eb\u200bc\u{e0041}\u2028d',
      'a<U+202E>b<U+200B>c<U+E0041><U+2028>d',
    ],
    ['emoji and joined letters', '👩‍💻 ❤️ می‌خواهم', '👩‍💻 ❤️ می‌خواهم'],
    ['a progress bar', '10%\r50%\r100%', '100%'],
    ['a progress bar that is wiped at the end', '50%\r100%\r   \r', '100%'],
    ['spinners', '|\b/\b-\bdone', 'done'],
    ['more backspaces than text', 'a\b\b\bb', 'b'],
    ['controls', 'a\u0000b\u0007c\u007fd\u0085e', 'abcde'],
  ];
  it.each(cases)('shows of %s what a terminal would', (_, line, shown) => {
    expect(cleanLine(line)).toBe(shown);
  });

  fuzz(
    'leaves no control character',
    fc
      .array(
        fc.oneof(
          fc.constantFrom(ESC, '[', ']', '\r', '\b', '\u0007', '0', 'm', ';', '\u009b', '\\', 'P'),
          fc.string({ maxLength: 3 }),
        ),
        { maxLength: 30 },
      )
      .map((parts) => parts.join('')),
    (line) => {
      const shown = cleanLine(line.replaceAll('\n', ''));
      for (const character of shown) {
        const code = character.codePointAt(0) ?? 0;
        expect(/[\t\n]/.test(character) || (code >= 0x20 && !(code >= 0x7f && code <= 0x9f))).toBe(
          true,
        );
      }
      expect(cleanLine(shown)).toBe(shown);
    },
  );
  for (const piece of [
    ESC,
    `${ESC}[`,
    `${ESC}]`,
    `${ESC}]8;;x`,
    '\r',
    '\b',
    'a\b',
    `${ESC}[1;`,
    '\u009b',
  ]) {
    growsLinearly(
      `takes linear time for ${JSON.stringify(piece)}`,
      (size) => piece.repeat(size / piece.length),
      cleanLine,
    );
  }
});

describe('LineCleaner', () => {
  const output = fc
    .array(fc.constantFrom('a', 'b\n', '\n', 'x\ry', `${ESC}[31m`, 'é', '\r\n', 'c\b'), {
      maxLength: 40,
    })
    .map((parts) => parts.join(''));
  fuzz(
    'shows the same however the output comes in',
    fc.tuple(output, fc.array(fc.nat(20), { maxLength: 10 })),
    ([text, cuts]) => {
      const whole = new LineCleaner();
      const all = whole.add(text) + whole.end();
      const pieces = new LineCleaner();
      let shown = '';
      let at = 0;
      for (const cut of cuts) {
        shown += pieces.add(text.slice(at, at + cut));
        at += cut;
      }
      shown += pieces.add(text.slice(at)) + pieces.end();
      expect(shown).toBe(all);
    },
  );
  it('keeps a failure of a line that is written over for long', () => {
    const cleaner = new LineCleaner();
    const bar = '50%\r'.repeat(40_000);
    expect(cleaner.add(`FAIL: a\r${bar}`) + cleaner.add(`${bar}done\n`)).toBe('FAIL: a\ndone\n');
  });
  it('searches each piece of a line a few times, and not all that is pending for each', () => {
    let searched = 0;
    const { lastIndexOf } = String.prototype;
    const spy = vi.spyOn(String.prototype, 'lastIndexOf').mockImplementation(function (
      this: string,
      ...args
    ) {
      searched += this.length;
      return lastIndexOf.apply(this, args);
    });
    onTestFinished(() => spy.mockRestore());
    const cleaner = new LineCleaner();
    for (let at = 0; at < 200_000; at += 10) cleaner.add('0123456789');
    cleaner.end();
    expect(searched).toBeGreaterThan(0);
    expect(searched).toBeLessThan(800_000);
  });
  it('tells the state of a line while it is written, and no part of a state', () => {
    const cleaner = new LineCleaner();
    cleaner.add('before\n10%');
    expect(cleaner.current()).toBe('10%');
    cleaner.add(`\r${'#'.repeat(1990)}\r20%`);
    expect(cleaner.current()).toBe('20%');
    const long = 'x'.repeat(2001);
    cleaner.add(`\n${long}`);
    expect(cleaner.current()).toBe('');
    expect(cleaner.currentEnd()).toBe(long.slice(1));
  });
  growsLinearly(
    'takes linear time for many small pieces of one line',
    (size) => size,
    (size) => {
      const cleaner = new LineCleaner();
      for (let at = 0; at < size; at += 10) cleaner.add('0123456789');
      return cleaner.end();
    },
  );
});

describe('withoutLastLineEnds', () => {
  it.each([
    ['', ''],
    ['\n\n', ''],
    ['\na\n\nb', '\na\n\nb'],
    ['\na\n\nb\n\n\n', '\na\n\nb'],
  ])('of %j', (text, expected) => {
    expect(withoutLastLineEnds(text)).toBe(expected);
  });

  growsLinearly(
    'takes linear time for empty lines before the last line',
    (size) => `${'\n'.repeat(size)}x`,
    withoutLastLineEnds,
    { upTo: { check: 128_000, long: 1_024_000 } },
  );
});

describe('HeadTail', () => {
  fuzz(
    'has all of a short text, and the ends of a long one within the limit',
    fc.tuple(
      fc.array(fc.string({ maxLength: 60 }), { maxLength: 40 }),
      fc.integer({ min: 20, max: 300 }),
      fc.integer({ min: 20, max: 600 }),
    ),
    ([pieces, limit, max]) => {
      const kept = new HeadTail(limit);
      for (const piece of pieces) kept.add(piece);
      const all = pieces.join('');
      const { text, omittedChars } = kept.text(max);
      expect(kept.chars).toBe(all.length);
      if (all.length <= Math.min(max, limit))
        expect({ text, omittedChars }).toEqual({ text: all, omittedChars: 0 });
      if (omittedChars === 0) expect(text).toBe(all);
      else {
        const [, head, count, tail] =
          /^(.*?)\n?\[… (\d+) characters left out …\]\n(.*)$/s.exec(text) ?? [];
        expect(all.startsWith(head ?? '?')).toBe(true);
        expect(all.endsWith(tail ?? '?')).toBe(true);
        expect(Number(count)).toBe(omittedChars);
        expect((head ?? '').length + (tail ?? '').length).toBeLessThanOrEqual(
          Math.min(max, 2 * limit),
        );
      }
    },
  );
});
