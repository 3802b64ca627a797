import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSearchQuery, searchWords } from './search-words.js';

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
    ['हिन्दी', ['हिन्दी']],
    ['한국', ['한국']],
    ['\u0301 \0 😀 \ud800', []],
    ['a\u0149b ʼn', ['aʼnb', 'ʼn']],
    ['x'.repeat(200), ['x'.repeat(64)]],
  ])('of %j are %j', (text, words) => expect(wordsOf(text)).toEqual(words));

  it('tell where they are', () => {
    expect([...searchWords('a  Bé')]).toEqual([
      { word: 'a', start: 0, end: 1 },
      { word: 'be', start: 3, end: 5 },
    ]);
  });

  fuzz(
    'are the same words again, and nothing but letters',
    fc.string({ unit: 'binary' }),
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

describe('parseSearchQuery', () => {
  it.each<[string, string[][]]>([
    ['', []],
    ['one two one', [['one'], ['two']]],
    ['"one two" three', [['one', 'two'], ['three']]],
    ['"one two', [['one'], ['two']]],
    ['a"b c"d', [['a'], ['b', 'c'], ['d']]],
    [
      'max_tokens foo.bar()',
      [
        ['max', 'tokens'],
        ['foo', 'bar'],
      ],
    ],
    ['NOT (a OR b*) ^c', [['not'], ['a'], ['or'], ['b'], ['c']]],
    ['東京', [['東', '京']]],
    ['"" "!" -', []],
  ])('of %j is %j', (query, phrases) => expect(parseSearchQuery(query)).toEqual(phrases));

  it('holds to its caps', () => {
    const many = Array.from({ length: 100 }, (_, i) => `w${i}`);
    expect(parseSearchQuery(many.join(' '))).toHaveLength(32);
    expect(parseSearchQuery(many.join('.'))[0]).toHaveLength(64);
    expect(parseSearchQuery(`${' '.repeat(10_000)}late`)).toEqual([]);
  });
});
