import { describe, expect, it } from 'vitest';
import { rankTexts, searchScore } from './search-rank.js';
import { parseSearchQuery } from './search-terms.js';

const DAY = 86_400_000;
const ranked = (query: string, texts: readonly string[]) =>
  rankTexts(
    texts.map((text) => ({ text })),
    parseSearchQuery(query),
  ).map(({ item }) => item.text);

describe('rankTexts', () => {
  it.each<[string, string[], string[]]>([
    ['pump', [], []],
    ['', ['pump'], []],
    ['pump', ['valve', 'pump'], ['pump']],
    ['pump valve', ['pump', 'a pump and a valve', 'x'], ['a pump and a valve', 'pump']],
    ['rare often', ['often', 'often', 'often', 'rare'], ['rare', 'often', 'often', 'often']],
    ['pump', ['pump and more and more words', 'pump'], ['pump', 'pump and more and more words']],
  ])('by %j of %j gives %j', (query, texts, expected) => {
    expect(ranked(query, texts)).toEqual(expected);
  });

  it('keeps the order of equals, and puts the newer one first where there is a time', () => {
    const items = [0, 100, 1].map((days) => ({ text: 'pump', createdAt: 1e12 - days * DAY }));
    const terms = parseSearchQuery('pump');
    expect(rankTexts(items, terms).map(({ item }) => items.indexOf(item))).toEqual([0, 1, 2]);
    const dated = rankTexts(items, terms, { now: 1e12 });
    expect(dated.map(({ item }) => items.indexOf(item))).toEqual([0, 2, 1]);
  });
});

describe('searchScore', () => {
  const rank = { weight: 3, matched: 1, exact: 0 };
  it('of all terms is above that of some, whatever they weigh', () => {
    const all = searchScore({ weight: 1e-9, matched: 2, exact: 0 }, { terms: 2 });
    const some = searchScore({ weight: 1e9, matched: 1, exact: 1 }, { terms: 2, ageMs: 0 });
    expect(all).toBeGreaterThan(1);
    expect(some).toBeLessThanOrEqual(1);
    expect(all).toBeGreaterThan(some);
  });

  it('falls with age, and a time to come is now', () => {
    const at = (ageMs: number) => searchScore(rank, { terms: 2, ageMs });
    expect(at(0)).toBe(at(-DAY));
    expect(at(0)).toBeGreaterThan(at(30 * DAY));
    expect(at(1e15)).toBeCloseTo(searchScore(rank, { terms: 2 }), 12);
  });
});
