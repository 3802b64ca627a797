import { findTerms } from './search-snippet.js';
import type { SearchTerm } from './search-terms.js';
import { searchWords } from './search-words.js';

/** What a search found in a text. */
export interface TextRank {
  /** How rare and how frequent the found words are: BM25 over the forms of each term. */
  weight: number;
  /** How many terms the text has, in whatever form. */
  matched: number;
  /** How many terms the text has in exactly the form of the query. */
  exact: number;
}

/**
 * How much more a text scores that has the terms exactly as in the query, and how much more a new
 * one.
 */
export const EXACT_BONUS = 0.2;
export const RECENCY_BONUS = 0.2;
/** After this time half of the bonus for new texts is left. */
export const RECENCY_HALF_LIFE_MS = 30 * 86_400_000;

/**
 * Of more matches than these, a store ranks the newest, and puts the others after them. To rank all
 * matches of a word that every text has takes as long as there are texts.
 */
export const RANKED_MATCHES = 2_000;

/** The two parameters of BM25: `K1` for repetition, `B` for length. */
const K1 = 1.2;
const B = 0.75;
/** A term in a heading counts as several in a text. */
const HEADING_PLACES = 5;

/**
 * One number for what was found. A text with all the terms gets 1 to 2, and a text with some of
 * them 0 to 1. Within these, the number grows with the rarity, the frequency and the count of the
 * found terms.
 *
 * @param rank the weight of the words found, how many terms were found, and how many of them in
 * exactly the form of the query
 * @param query how many `terms` it has, and the text's `ageMs` in milliseconds; age does not count
 * when absent
 * @returns a number from 0 to 2
 */
export function searchScore(
  { weight, matched, exact }: TextRank,
  { terms, ageMs }: { terms: number; ageMs?: number },
): number {
  const recency = ageMs === undefined ? 0 : 2 ** (-Math.max(0, ageMs) / RECENCY_HALF_LIFE_MS);
  const value =
    weight *
    (matched / terms) *
    (1 + (EXACT_BONUS * exact) / terms) *
    (1 + RECENCY_BONUS * recency);
  return (matched >= terms ? 1 : 0) + value / (1 + value);
}

/** A text to be searched. */
export interface SearchableText {
  text: string;
  heading?: string;
  /** Milliseconds since the epoch. */
  createdAt?: number;
}

/**
 * The texts that have a term, the best first. Equal ones keep their order.
 *
 * @param texts to search
 * @param terms as `parseSearchQuery` gives them
 * @param options `now`, in milliseconds since the epoch: newer texts score higher. Age does not
 * count when absent
 * @returns each text with a term, and its score as `searchScore` gives it
 */
export function rankTexts<T extends SearchableText>(
  texts: readonly T[],
  terms: readonly SearchTerm[],
  { now }: { now?: number } = {},
): { item: T; score: number }[] {
  if (terms.length === 0) return [];
  const counted = texts.map((item) => ({ item, ...countPlaces(item, terms) }));
  const meanSize = counted.reduce((sum, { size }) => sum + size, 0) / Math.max(1, counted.length);
  const rarity = terms.map((_, term) => {
    const having = counted.filter(({ places }) => (places[term] ?? 0) > 0).length;
    return Math.log(1 + (counted.length - having + 0.5) / (having + 0.5));
  });
  return counted
    .map(({ item, size, places, exact }) => {
      const damping = K1 * (1 - B + (B * size) / Math.max(1, meanSize));
      const weight = places.reduce(
        (sum, count, term) => sum + ((rarity[term] ?? 0) * count * (K1 + 1)) / (count + damping),
        0,
      );
      const matched = places.filter((count) => count > 0).length;
      const ageMs =
        now === undefined || item.createdAt === undefined ? undefined : now - item.createdAt;
      const score = searchScore(
        { weight, matched, exact },
        { terms: terms.length, ...(ageMs !== undefined && { ageMs }) },
      );
      return { item, matched, score };
    })
    .filter(({ matched }) => matched > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ item, score }) => ({ item, score }));
}

function countPlaces({ text, heading = '' }: SearchableText, terms: readonly SearchTerm[]) {
  const places: number[] = Array(terms.length).fill(0);
  const exact = new Set<number>();
  for (const [part, worth] of [
    [heading, HEADING_PLACES],
    [text, 1],
  ] as const) {
    for (const { term, isExact } of findTerms(part, terms)) {
      places[term] = (places[term] ?? 0) + worth;
      if (isExact) exact.add(term);
    }
  }
  let size = 0;
  for (const _ of searchWords(text)) size += 1;
  return { places, exact: exact.size, size };
}
