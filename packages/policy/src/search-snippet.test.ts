import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTerms, searchSnippet } from './search-snippet.js';
import { parseSearchQuery } from './search-terms.js';

describe('findTerms', () => {
  it.each<[string, string, string[]]>([
    ['a b a', 'a', ['a', 'a']],
    ['a b c', '"a b" c', ['a b', 'c']],
    ['Runs, running and run', 'running', ['Runs', 'running', 'run']],
    ['runs', '"run"', []],
    ['days', 'day', ['days']],
    ['set maxTextChars', 'texts', ['maxTextChars']],
    ['a, b', '"a b"', ['a, b']],
    ['a a a', '"a a"', ['a a', 'a a']],
    ['b a', '"a b"', []],
    ['Le Café.', 'cafe', ['Café']],
    ['私は東京都', '東京', ['東京']],
    ['ab', 'a', []],
  ])('in %j of %j finds %j', (text, query, expected) => {
    const hits = [...findTerms(text, parseSearchQuery(query))];
    expect(hits.map(({ start, end }) => text.slice(start, end))).toEqual(expected);
  });
});

describe('searchSnippet', () => {
  const snippet = (text: string, query: string, maxChars?: number) =>
    searchSnippet(text, parseSearchQuery(query), maxChars);

  it.each<[string, string, string]>([
    ['a b c', 'b', 'a [b] c'],
    ['a\n\n  b', 'b', 'a [b]'],
    ['a a a', '"a a"', '[a a] a'],
    ['nothing', 'b', 'nothing'],
    ['', 'b', ''],
  ])('of %j for %j is %j', (text, query, expected) => {
    expect(snippet(text, query)).toBe(expected);
  });

  it('is where the most different phrases are', () => {
    const gap = 'x '.repeat(200);
    const text = `one ${gap} two ${gap} one and two ${gap}`;
    expect(snippet(text, 'one two')).toContain('[one] and [two]');
    expect(snippet(`${gap} two`, 'two')).toMatch(/^… ?(x )+\[two\]$/);
  });

  it.each(['needle', '"two needle"', 'NEEDLE lost', '針を', '"needle, three"'])(
    'shows %s wherever it stands in a long text',
    (query) => {
      const gap = 'some words '.repeat(100_000);
      expect(snippet(`${gap}two Needle three 針を 東 ${gap}`, query)).toMatch(/\[/);
    },
  );

  it('shows another form of a word wherever it stands in a long text', () => {
    const gap = 'some words '.repeat(100_000);
    for (const [query, form] of [
      ['libraries', 'library'],
      ['library', 'libraries'],
      ['planned', 'planning'],
    ] as const) {
      expect(snippet(`${gap}${form} ${gap}`, query)).toContain(`[${form}]`);
    }
  });

  it('looks at a part of a long text word by word', () => {
    const gap = 'x é '.repeat(500_000);
    // Written in another form than in the query, and far away.
    expect(snippet(`néedle ${gap}`, 'needle')).toMatch(/^\[néedle\] x/);
    expect(snippet(`${gap} néedle`, 'needle')).toMatch(/^x é/);
    expect(snippet(gap, '""')).toMatch(/^x é/);
  });

  fuzz(
    'is short, well-formed and of one line',
    fc.tuple(anyText({ maxLength: 600 }), fc.string(), fc.integer({ min: 1, max: 50 })),
    ([text, query, maxChars]) => {
      const part = snippet(text, query, maxChars);
      expect(part.isWellFormed() && !/[\r\n]/.test(part)).toBe(true);
      expect(part.length).toBeLessThanOrEqual(maxChars * 3 + 2);
    },
  );
});
