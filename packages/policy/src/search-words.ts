import { once } from './once.js';

/** A word of a text: as it is compared, and where it stands, in UTF-16 units. */
export interface TextWord {
  word: string;
  /** The index of its first UTF-16 code unit in the text. */
  start: number;
  /** The index after its last UTF-16 code unit. */
  end: number;
}

const LETTER = '[\\p{L}\\p{N}\\p{M}\\p{Co}]';
// Scripts that are written without spaces. Each character counts as a word. Several characters in a
// query form a phrase, which finds any part of a text. Characters that the Latin script also uses
// are excluded: Thai shares the apostrophe of `ŉ`.
const UNSPACED =
  '(?!\\p{scx=Latin})[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}]';
// The first alternative gives the same result as the third for plain words, and is much faster.
const wordPattern = once(
  () =>
    new RegExp(
      `[0-9A-Za-z]+(?!${LETTER})|(?=${UNSPACED})${LETTER}|(?:(?!${UNSPACED})${LETTER})+`,
      'gu',
    ),
);
const notLetter = once(() => new RegExp(`[^${LETTER.slice(1, -1)}]`, 'gu'));
const ASCII_WORD = /^[0-9A-Za-z]+$/;

/**
 * The characters that are two words each: such a one is found where somebody wrote the two. An index
 * may be older than this, and have them as one word.
 */
export const TWO_WORD_CHARACTERS: readonly string[] = ['ำ', 'ຳ', 'ໜ', 'ໝ', 'ゟ', 'ヿ'];

/** How many characters of a long word are compared. */
const MAX_WORD_CHARS = 64;

/**
 * The words of a text for full-text search: runs of letters and digits in lower case, without
 * diacritics, in compatibility form.
 *
 * @param text in any script
 * @returns the words in order, each with its place
 */
export function* searchWords(text: string): Generator<TextWord> {
  for (const { 0: found, index: start } of text.matchAll(wordPattern())) {
    const end = start + found.length;
    const word = folded(found);
    if (word.length <= found.length) {
      if (word !== '') yield { word, start, end };
      continue;
    }
    // `ໜ` is two characters of a script without spaces, and found where somebody wrote `ຫນ`.
    for (const part of word.match(wordPattern()) ?? []) yield { word: part, start, end };
  }
}

function folded(word: string): string {
  const start = word.slice(0, MAX_WORD_CHARS);
  if (ASCII_WORD.test(start)) return start.toLowerCase();
  return start
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFC')
    .replace(notLetter(), '');
}
