import { createHash } from 'node:crypto';
import { indexedWords } from '@ethosagent/policy';

/** An entry of the index has at most some 2,700 bytes. Letters that unfold can make more of a word. */
const MAX_WORD_BYTES = 500;

/** A word as the index takes it. */
export function indexedWord(word: string): string {
  if (word.length * 3 <= MAX_WORD_BYTES || Buffer.byteLength(word) <= MAX_WORD_BYTES) return word;
  // No word has a `#`, so it is no other word's name.
  return `#${createHash('sha256').update(word).digest('hex')}`;
}

/** The words of a text as the index takes them, with a space between. */
export function wordsForIndex(text: string): string {
  const words = indexedWords(text);
  if (words.length * 3 <= MAX_WORD_BYTES) return words;
  return words.split(' ').map(indexedWord).join(' ');
}
