import { stemmer } from 'stemmer';
import { searchWords, type TextWord } from './search-words.js';

const ENGLISH = /^[a-z]{3,}$/;
const CAMEL = /[a-z][A-Z]/;
const CAMEL_BORDER = /(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])/;
const MIN_PART_CHARS = 3;
const MAX_PARTS = 8;

/**
 * The common part of the forms of an English word, by Porter's rules. Any other word is its own
 * stem.
 */
export function wordStem(word: string): string {
  return ENGLISH.test(word) ? stemmer(word) : word;
}

/**
 * The other forms by which a word of a text is found: its stem, and the stems of the parts of a
 * name that is written `likeThis`.
 */
export function otherForms(text: string, { word, start, end }: TextWord): string[] {
  const forms = new Set([wordStem(word)]);
  const written = text.slice(start, end);
  if (CAMEL.test(written)) {
    for (const part of written.split(CAMEL_BORDER).slice(0, MAX_PARTS)) {
      if (part.length >= MIN_PART_CHARS) forms.add(wordStem(part.toLowerCase()));
    }
  }
  forms.delete(word);
  return [...forms];
}

/**
 * The words of a text as an index takes them, and their other forms.
 *
 * @param text of a message
 * @returns `words` and `stems`, each with spaces between
 */
export function indexedWords(text: string): { words: string; stems: string } {
  const words: string[] = [];
  const stems: string[] = [];
  for (const word of searchWords(text)) {
    words.push(word.word);
    stems.push(...otherForms(text, word));
  }
  return { words: words.join(' '), stems: stems.join(' ') };
}
