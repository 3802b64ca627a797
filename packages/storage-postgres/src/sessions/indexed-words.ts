import { createHash } from 'node:crypto';

/** An entry of the index has at most some 2,700 bytes. Letters that unfold can make more of a word. */
const MAX_WORD_BYTES = 500;

/** A word as the index takes it. */
export function indexedWord(word: string): string {
  if (word.length * 3 <= MAX_WORD_BYTES || Buffer.byteLength(word) <= MAX_WORD_BYTES) return word;
  // No word has a `#`, so it is no other word's name.
  return `#${createHash('sha256').update(word).digest('hex')}`;
}

/** A form of a word that is not as it is written. No word has a `~`. */
export function indexedStem(stem: string): string {
  return `~${stem}`;
}

/** The words of a text and then their other forms, with a space between, as the index takes them. */
export function wordsForIndex({ words, stems }: { words: string; stems: string }): string {
  const taken =
    words.length * 3 <= MAX_WORD_BYTES ? words : words.split(' ').map(indexedWord).join(' ');
  return stems === '' ? taken : `${taken} ${stems.split(' ').map(indexedStem).join(' ')}`;
}
