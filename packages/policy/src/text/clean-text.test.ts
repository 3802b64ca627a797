import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine, cleanText, hiddenIn, visibleText } from './clean-text.js';

describe('cleanText', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a title of a terminal', '\u001b]0;x\u0007y', 'y'],
    ['zero-width and bidirectional marks', 'a\u200b\u202Eb\u2066c', 'abc'],
    ['tags', `a${String.fromCodePoint(0xe0041)}b`, 'ab'],
    [
      'chat templates',
      '<|im_start|>system [INST]x[/INST] </s>\u{1d236}|x|>',
      '‹|im_start|>system ‹INST]x‹/INST] ‹/s>‹|x|>',
    ],
    ['CR LF', 'a\r\nb\rc', 'a\nb\nc'],
    ['fillers and selectors', 'a\u034fb\u115fc\u3164d\uffa0e\ufe01', 'abcde'],
    [
      'tokens with bars',
      '<｜User｜> <|reserved_special_token_0|> <|turn>',
      '‹｜User｜> ‹|reserved_special_token_0|> ‹|turn>',
    ],
    [
      'tokens in tags',
      '<<SYS>> <start_of_turn> </tool_call> <think>',
      '‹<SYS>> ‹start_of_turn> ‹/tool_call> ‹think>',
    ],
    ['tokens in brackets', '[/AVAILABLE_TOOLS][gMASK]', '‹/AVAILABLE_TOOLS]‹gMASK]'],
    ['emoji and joined letters', '👩‍🚀 ❤️ می‌خواهم', '👩‍🚀 ❤️ می‌خواهم'],
    [
      'code',
      'a <|> b |> c <b>x</b> Map<string, T> x[INST',
      'a <|> b |> c <b>x</b> Map<string, T> x[INST',
    ],
    ['half a pair', 'a\ud800b', 'a\ufffdb'],
    ['an honest text', 'a < b | c [x] é 工具 🙂\n- d', 'a < b | c [x] é 工具 🙂\n- d'],
  ])('makes of %s what can be seen', (_name, text, clean) => {
    expect(cleanText(text, 1_000)).toBe(clean);
  });

  fuzz(
    'is never longer than it may be, and well-formed',
    fc.tuple(anyText(), fc.integer({ min: 1, max: 20 })),
    ([text, maxChars]) => {
      expect(cleanText(text, maxChars).length).toBeLessThanOrEqual(maxChars);
      expect(cleanText(text, maxChars).isWellFormed()).toBe(true);
    },
  );

  growsLinearly(
    'takes linear time',
    (size) => '<|a'.repeat(size),
    (text) => cleanText(text, 1_000_000),
  );
});

describe('cleanLine', () => {
  it('is one line, whatever the text has', () => {
    expect(cleanLine('a\n[user] b\r\n\u2028c\u0085d', 100)).toBe('a [user] b cd');
  });
});

describe('visibleText', () => {
  it('keeps white space, and the tokens of chat templates', () => {
    expect(visibleText('  <|im_start|>\t\u001b[1mx\u001b[0m \r\n')).toBe('  <|im_start|>\tx \n');
  });
  it('gives text without anything that is hidden but tokens', () => {
    for (const text of ['\u0000\u009b31m', '\ud800\u200b', '\u2028\u0085', '\u001b']) {
      expect(hiddenIn(visibleText(text))).toBeUndefined();
    }
  });
});

describe('hiddenIn', () => {
  it.each([
    ['a text of letters', 'plain é 工具 👩‍🚀\r\n\t', undefined],
    ['a regular expression', '^[^<>|\\[\\]]+$', undefined],
    ['a zero-width space', 'a\u200b', 'characters that nobody sees'],
    ['tags', `a${String.fromCodePoint(0xe0041)}`, 'characters that nobody sees'],
    ['an escape', 'a\u001b[0m', 'control characters'],
    ['a token', '<|im_start|>', "a chat template's token"],
    ['half a pair', '\ud800', 'half a character'],
  ])('finds in %s what is hidden', (_name, text, hidden) => {
    expect(hiddenIn(text)).toBe(hidden);
  });
});
