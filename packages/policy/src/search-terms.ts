import { EthosError } from '@ethosagent/types';
import { isCommonWord } from './common-words.js';
import { searchWords } from './search-words.js';
import { wordStem } from './word-stems.js';

/** Words that stand one after the other. */
export type SearchPhrase = readonly string[];

/** A part of a query: a word, or words in a row. */
export interface SearchTerm {
  words: SearchPhrase;
  /** The common part of the word's forms. Absent for words in a row, and for a quoted part. */
  stem?: string;
}

const MAX_QUERY_CHARS = 10_000;
const MAX_TERMS = 32;
const MAX_TERM_WORDS = 64;
const POSSESSIVE = /['\u2019]s(?![\p{L}\p{N}])/giu;

/**
 * The terms of a query. A part between spaces stands for all forms of its word. A part in double
 * quotes is found as it is. A part of several words stands for these words in a row (`max_tokens`
 * are two). Words that nearly every text has are left out where other words are left. No character
 * is an operator. At most 32 parts of 64 words.
 *
 * @param query as somebody wrote it
 * @returns the terms, in the order of the query
 * @throws `VALUE_INVALID` for anything but a string
 */
export function parseSearchQuery(query: string): SearchTerm[] {
  if (typeof query !== 'string') {
    throw new EthosError('VALUE_INVALID', 'a search needs a string with the words to look for');
  }
  const parts = query.slice(0, MAX_QUERY_CHARS).split('"');
  const telling = new Map<string, SearchTerm>();
  const common = new Map<string, SearchTerm>();
  parts.forEach((part, index) => {
    // Quoted text lies between an even and an odd quote. A last quote that is never closed is an
    // ordinary character.
    const isQuoted = index % 2 === 1 && index < parts.length - 1;
    const pieces = isQuoted ? [part] : part.replace(POSSESSIVE, '').split(/\s+/u);
    for (const piece of pieces) {
      const words = [...searchWords(piece)].slice(0, MAX_TERM_WORDS).map(({ word }) => word);
      if (words.length === 0) continue;
      const isCommon = !isQuoted && words.every(isCommonWord);
      const term = isQuoted ? { words } : termOf(words);
      const terms = isCommon ? common : telling;
      const name = term.stem ?? `"${words.join(' ')}"`;
      if (terms.size < MAX_TERMS && !terms.has(name)) terms.set(name, term);
    }
  });
  return [...(telling.size > 0 ? telling : common).values()];
}

function termOf(words: SearchPhrase): SearchTerm {
  const [first = '', ...more] = words;
  return more.length > 0 ? { words } : { words, stem: wordStem(first) };
}
