import { describe, expect, it } from 'vitest';
import { parseSearchQuery } from './search-terms.js';

const termsOf = (query: string) =>
  parseSearchQuery(query).map(({ words, stem }) =>
    stem === undefined ? `"${words.join(' ')}"` : `${words.join(' ')}~${stem}`,
  );

describe('parseSearchQuery', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['one two one', ['one~on', 'two~two']],
    ['"one two" three', ['"one two"', 'three~three']],
    ['"one two', ['one~on', 'two~two']],
    ['x"b c"y', ['x~x', '"b c"', 'y~y']],
    ['"running" runs running', ['"running"', 'runs~run']],
    ['max_tokens foo.bar()', ['"max tokens"', '"foo bar"']],
    ['NOT (x OR b*) ^c', ['x~x', 'b~b', 'c~c']],
    ['how do I wait for it?', ['wait~wait']],
    ['what is "the" matter', ['"the"', 'matter~matter']],
    ['to be or not to be', ['to~to', 'be~be', 'or~or', 'not~not']],
    ["don't copy the file's name", ['copy~copi', 'file~file', 'name~name']],
    ['東京', ['"東 京"']],
    ['"" "!" -', []],
    ['utf8 größe', ['utf8~utf8', 'große~große']],
  ])('of %j is %j', (query, terms) => expect(termsOf(query)).toEqual(terms));

  it('holds to its caps', () => {
    const many = Array.from({ length: 100 }, (_, i) => `w${i}`);
    expect(parseSearchQuery(many.join(' '))).toHaveLength(32);
    expect(parseSearchQuery(many.join('.'))[0]?.words).toHaveLength(64);
    expect(parseSearchQuery(`${' '.repeat(10_000)}late`)).toEqual([]);
  });
});
