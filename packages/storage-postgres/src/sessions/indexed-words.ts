import { createHash } from 'node:crypto';

/** An index entry has at most about 2,700 bytes, and case folding can make a word longer. */
const MAX_WORD_BYTES = 500;

/** Returns a word in the form of the index. */
export function indexedWord(word: string): string {
  if (word.length * 3 <= MAX_WORD_BYTES || Buffer.byteLength(word) <= MAX_WORD_BYTES) return word;
  // No word contains a `#`, so this can't be mistaken for another word.
  return `#${createHash('sha256').update(word).digest('hex')}`;
}

/** Marks a form of a word that differs from the written one. No word contains a `~`. */
export function indexedStem(stem: string): string {
  return `~${stem}`;
}

/**
 * Returns the words of a text and then their other forms, separated by spaces, in the form of the
 * index.
 */
export function wordsForIndex({ words, stems }: { words: string; stems: string }): string {
  const taken =
    words.length * 3 <= MAX_WORD_BYTES ? words : words.split(' ').map(indexedWord).join(' ');
  return stems === '' ? taken : `${taken} ${stems.split(' ').map(indexedStem).join(' ')}`;
}
