import { INVISIBLE_CLASS } from '@ethosagent/policy';
import unhomoglyph from 'unhomoglyph';

// Nobody sees these: joiners, selectors, soft hyphens, direction marks, tags. Other format characters can be
// seen, and they are removed as well: they must not split a word that a pattern looks for.
const INVISIBLE = new RegExp(`[${INVISIBLE_CLASS}\\p{Cf}]`, 'gu');
const MARKS = /\p{M}/gu;
const NOT_ASCII = /[^\0-\x7F]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&amp;': '&',
};

/** Returns the text without invisible characters, with compatibility forms and case folded. */
export function plainText(text: string): string {
  return text.normalize('NFKC').replaceAll(INVISIBLE, '').toLowerCase();
}

/** Returns the text without invisible characters. Its case stays. */
export function visibleText(text: string): string {
  return text.normalize('NFKC').replaceAll(INVISIBLE, '');
}

/**
 * Returns `plainText` without accents. Letters of other scripts that look like ASCII letters become
 * ASCII letters.
 */
export function foldedText(text: string): string {
  return plainText(text)
    .normalize('NFKD')
    .replaceAll(MARKS, '')
    .replaceAll(NOT_ASCII, lookalike)
    .replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/[*`~]|(?<![\p{L}\p{N}_|<])_+|_+(?![\p{L}\p{N}_|>])/gu, '')
    .toLowerCase();
}

/** Joins the letters of words that have a space, a dot or a dash after each letter. */
export function joinedLetters(folded: string): string {
  return folded.replaceAll(
    /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}](?:[^\S\n]|[._\-+|/]){1,2}){3,}[\p{L}\p{N}](?![\p{L}\p{N}])/gu,
    (spaced) =>
      spaced
        // One separator is between letters, so two are between words.
        .split(/[^\S\n]{2}/)
        .map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, ''))
        .join(' '),
  );
}

const known = new Map<string, string>();

function lookalike(character: string): string {
  let ascii = known.get(character);
  if (ascii === undefined) {
    const found = unhomoglyph(character);
    ascii = /^[\0-\x7F]+$/.test(found) ? found : character;
    // A hostile text may have every character of Unicode, so the cache has a limit.
    if (known.size < 10_000) known.set(character, ascii);
  }
  return ascii;
}
