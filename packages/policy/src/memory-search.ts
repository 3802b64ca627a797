import type { MemoryMatch, MemorySection } from '@ethosagent/types';
import { rankTexts } from './search-rank.js';
import { searchSnippet } from './search-snippet.js';
import { parseSearchQuery } from './search-terms.js';

/**
 * The sections with words of a query, those with all of them first; a heading counts for more.
 *
 * @param sections of one memory
 * @param query as `parseSearchQuery` takes it
 * @param limit the most matches
 * @returns matches, the best first
 */
export function searchMemory(
  sections: readonly MemorySection[],
  query: string,
  limit: number,
): MemoryMatch[] {
  const terms = parseSearchQuery(query);
  return rankTexts(sections, terms)
    .slice(0, limit)
    .map(({ item: { heading, text } }) => ({ heading, snippet: searchSnippet(text, terms) }));
}
