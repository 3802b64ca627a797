import type { MemoryMatch, MemorySection } from '@ethosagent/types';
import { findPhrases, searchSnippet } from './search-snippet.js';
import { parseSearchQuery, type SearchPhrase } from './search-words.js';

/**
 * The sections with all the words of a query, or where there is none, with any of them; those with
 * the most places first, a place in the heading counting for several.
 */
export function searchMemory(
  sections: readonly MemorySection[],
  query: string,
  limit: number,
): MemoryMatch[] {
  const phrases = parseSearchQuery(query);
  const found = sections
    .map((section) => ({ section, ...countPlaces(section, phrases) }))
    .filter(({ different }) => different > 0);
  const all = found.filter(({ different }) => different === phrases.length);
  return (all.length > 0 ? all : found)
    .sort((a, b) => b.different - a.different || b.places - a.places)
    .slice(0, limit)
    .map(({ section: { heading, text } }) => ({ heading, snippet: searchSnippet(text, phrases) }));
}

function countPlaces({ heading, text }: MemorySection, phrases: readonly SearchPhrase[]) {
  const different = new Set<number>();
  let places = 0;
  for (const { phrase } of findPhrases(heading, phrases)) {
    different.add(phrase);
    places += 5;
  }
  for (const { phrase } of findPhrases(text, phrases)) {
    different.add(phrase);
    places += 1;
  }
  return { different: different.size, places };
}
