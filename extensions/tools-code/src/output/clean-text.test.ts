import { growsLinearly } from '@ethosagent/conformance/fuzz';
import { describe, expect, it } from 'vitest';
import { cleanText, quoteFrames } from './clean-text.js';

const ESC = '\u001b';

describe('cleanText', () => {
  it.each([
    ['a\tb\né 漢 🙂', 'a\tb\né 漢 🙂'],
    [`${ESC}[1;31mred${ESC}[0m`, 'red'],
    [`${ESC}]0;title\u0007text`, 'text'],
    [`x${ESC}PFAIL: boom\n`, 'xPFAIL: boom\n'],
    [`${ESC}]0;FAIL\nnext`, ']0;FAIL\nnext'],
    ['FAIL\rok\r\n', 'FAIL\nok\n'],
    ['a\u0000\b\u009bb', 'ab'],
    ['a\u202eb\u200b\u{e0041}', 'a<U+202E>b<U+200B><U+E0041>'],
  ])('of %j is %j', (text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  for (const piece of [ESC, `${ESC}[`, `${ESC}]`, `${ESC}[1;`, `${ESC}]8;;x`, '\r']) {
    growsLinearly(
      `takes linear time for ${JSON.stringify(piece)}`,
      (size) => piece.repeat(size / piece.length),
      cleanText,
    );
  }
});

it.each([
  ['[standard error]', '\\[standard error]'],
  ['ok\n[exit code 3]\n\\[ended by SIGKILL: a', 'ok\n\\[exit code 3]\n\\\\[ended by SIGKILL: a'],
  ['[12 characters left out]', '\\[12 characters left out]'],
  ['a [exit code 3]\n[it printed]', 'a [exit code 3]\n[it printed]'],
])('quoteFrames of %j is %j', (text, quoted) => {
  expect(quoteFrames(text)).toBe(quoted);
});
