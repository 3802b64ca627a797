import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { anyText, isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { searchWords, TWO_WORD_CHARACTERS } from './search-words.js';

const wordsOf = (text: string) => [...searchWords(text)].map(({ word }) => word);

describe('searchWords', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['Two words, 3.5!', ['two', 'words', '3', '5']],
    ['snake_case-and.dots', ['snake', 'case', 'and', 'dots']],
    ['Café CAFE\u0301', ['cafe', 'cafe']],
    ['İstanbul', ['istanbul']],
    ['ΣΟΦΌΣ σοφός', ['σοφοσ', 'σοφοσ']],
    ['Ёлка', ['елка']],
    ['ﬁne ①', ['fine', '1']],
    ['東京 data', ['東', '京', 'data']],
    ['データ', ['デ', 'ー', 'タ']],
    ['v2東', ['v2', '東']],
    // One character of two: found by either spelling.
    ['ໜ ຫນ', ['ຫ', 'ນ', 'ຫ', 'ນ']],
    ['น้ำ', wordsOf('น้\u0e4d\u0e32')],
    ['हिन्दी', ['हिन्दी']],
    ['한국', ['한국']],
    ['\u0301 \0 😀 \ud800', []],
    ['a\u0149b ʼn', ['aʼnb', 'ʼn']],
    ['x'.repeat(200), ['x'.repeat(64)]],
  ])('of %j are %j', (text, words) => expect(wordsOf(text)).toEqual(words));

  it('tell where they are', () => {
    expect([...searchWords('a  Bé ໜ')]).toEqual([
      { word: 'a', start: 0, end: 1 },
      { word: 'be', start: 3, end: 5 },
      { word: 'ຫ', start: 6, end: 7 },
      { word: 'ນ', start: 6, end: 7 },
    ]);
  });

  it.each(TWO_WORD_CHARACTERS)('of %s are two', (character) => {
    expect(wordsOf(character)).toHaveLength(2);
  });

  it.runIf(isLongRun())('of no other character are several, or other words again', () => {
    const several: string[] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      const words = wordsOf(character);
      if (words.length > 1) several.push(character);
      const again = wordsOf(words.join(' '));
      if (again.join(' ') !== words.join(' ')) expect.fail(`not U+${code.toString(16)}`);
    }
    expect(several).toEqual(TWO_WORD_CHARACTERS);
  });

  fuzz(
    'are the same words again, and nothing but letters',
    anyText(),
    (text) => {
      const words = wordsOf(text);
      expect(wordsOf(words.join(' '))).toEqual(words);
      for (const word of words) expect(word).toMatch(/^[\p{L}\p{N}\p{M}\p{Co}]{1,}$/u);
    },
    { runs: { check: 100, long: 100_000 } },
  );

  for (const part of ['a', 'a ', '東', '\u0301', 'é', '😀', 'a東']) {
    growsLinearly(
      `take linear time for the repetition of ${JSON.stringify(part)}`,
      (size) => part.repeat(size),
      wordsOf,
    );
  }
});
