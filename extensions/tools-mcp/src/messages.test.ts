import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine, cleanText, hiddenIn, shorten } from './clean-text.js';
import { canonicalJson, depthOf, jsonDepth, readMessage } from './json-message.js';
import { LineSplitter } from './line-splitter.js';
import { TokenBucket } from './token-bucket.js';

describe('readMessage', () => {
  it.each([
    ['nothing', '', 'no JSON'],
    ['a text', '"x"', 'no JSON-RPC message'],
    ['a batch', '[]', 'no JSON-RPC message'],
    ['another version', '{"jsonrpc":"1.0","id":1,"result":{}}', 'no JSON-RPC message'],
    ['brackets without end', '['.repeat(1_000_000), 'nested deeper'],
    ['deep arguments', `{"jsonrpc":"2.0","method":"x","params":{"a":${'['.repeat(101)}`, 'deeper'],
  ])('refuses %s', (_name, text, problem) => {
    const read = readMessage(text);
    expect(read.ok ? 'read' : read.problem).toContain(problem);
  });

  it('reads a message with brackets and quotes in its texts', () => {
    const result = { text: '[[[["\\"{{{{\\\\"'.repeat(100) };
    const read = readMessage(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    expect(read).toMatchObject({ ok: true, message: { result } });
  });

  fuzz(
    'says how deep JSON nests, and never throws',
    fc.tuple(fc.jsonValue(), fc.string()),
    ([value, text]) => {
      expect(jsonDepth(JSON.stringify(value))).toBe(depthOf(value, 1_000));
      expect(typeof readMessage(text).ok).toBe('boolean');
    },
  );

  growsLinearly(
    'takes linear time',
    (size) => '"\\'.repeat(size),
    (text) => jsonDepth(text),
  );
});

describe('canonicalJson', () => {
  fuzz('is the same for the same value, whatever the order of keys', fc.jsonValue(), (value) => {
    const text = canonicalJson(value);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    const turned = JSON.parse(text, (_key, item) =>
      typeof item === 'object' && item !== null && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).reverse())
        : item,
    );
    expect(canonicalJson(turned)).toBe(text);
  });
});

describe('LineSplitter', () => {
  fuzz(
    'gives the lines, however they come',
    fc.array(fc.stringMatching(/^[a\n]{0,9}$/)),
    (pieces) => {
      const splitter = new LineSplitter(1_000);
      const lines = pieces.flatMap((piece) => splitter.push(piece) ?? ['too long']);
      expect(lines).toEqual(pieces.join('').split('\n').slice(0, -1));
    },
  );

  it('gives up on a line that is too long', () => {
    const splitter = new LineSplitter(10);
    expect(splitter.push('123456789\n12345')).toEqual(['123456789']);
    expect(splitter.push('123456')).toBeNull();
  });
});

describe('TokenBucket', () => {
  it('lets a burst through, and makes wait after it', () => {
    let now = 0;
    const bucket = new TokenBucket(10, 5, () => now);
    expect([1, 1, 1, 1, 1, 1, 1].map((count) => bucket.take(count))).toEqual([
      0, 0, 0, 0, 0, 100, 200,
    ]);
    now = 1_000;
    expect(bucket.take(1)).toBe(0);
  });
});

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
    fc.tuple(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 })),
    ([text, maxChars]) => {
      expect(cleanText(text, maxChars).length).toBeLessThanOrEqual(maxChars);
      expect(cleanText(text, maxChars).isWellFormed()).toBe(true);
      expect(shorten(text.toWellFormed(), maxChars).isWellFormed()).toBe(true);
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
