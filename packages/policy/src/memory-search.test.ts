import { describe, expect, it } from 'vitest';
import { searchMemory } from './memory-search.js';

const sections = [
  { heading: 'Work', text: 'Coffee at ten. Coffee at noon.' },
  { heading: 'Coffee', text: 'Black.' },
  { heading: '', text: 'Tea, and coffee.' },
];

describe('searchMemory', () => {
  it.each<[string, number, string[]]>([
    ['coffee', 9, ['Coffee', 'Work', '']],
    ['coffee', 2, ['Coffee', 'Work']],
    ['coffee', 0, []],
    ['coffee ten', 9, ['Work', 'Coffee', '']],
    ['tea ten', 9, ['', 'Work']],
    ['coffees black', 1, ['Coffee']],
    ['"coffee black"', 9, []],
    ['"', 9, []],
    ['', 9, []],
  ])('by %j, at most %d, finds %j', (query, limit, headings) => {
    expect(searchMemory(sections, query, limit).map(({ heading }) => heading)).toEqual(headings);
  });

  it('gives the part of the text, also when only the heading has the words', () => {
    expect(searchMemory(sections, 'coffee', 2)).toEqual([
      { heading: 'Coffee', snippet: 'Black.' },
      { heading: 'Work', snippet: '[Coffee] at ten. [Coffee] at noon.' },
    ]);
  });
});
