import { INVISIBLE_CLASS } from '@ethosagent/policy';
import unhomoglyph from 'unhomoglyph';

// Joiners and selectors, soft hyphens, direction marks, tags: what nobody sees.
// Format characters that are seen must not part a word either.
const INVISIBLE = new RegExp(`[${INVISIBLE_CLASS}\\p{Cf}]`, 'gu');
const MARKS = /\p{M}/gu;
const NOT_ASCII = /[^\0-\x7F]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&amp;': '&',
};

/** The text as it reads: invisible characters gone, compatibility forms and case folded. */
export function plainText(text: string): string {
  return text.normalize('NFKC').replaceAll(INVISIBLE, '').toLowerCase();
}

/** The text without what nobody sees, its case kept. */
export function visibleText(text: string): string {
  return text.normalize('NFKC').replaceAll(INVISIBLE, '');
}

/** The same as `plainText` with accents gone, and letters of other scripts as those of ASCII they pass for. */
export function foldedText(text: string): string {
  return plainText(text)
    .normalize('NFKD')
    .replaceAll(MARKS, '')
    .replaceAll(NOT_ASCII, lookalike)
    .replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/[*`~]|(?<![\p{L}\p{N}_|<])_+|_+(?![\p{L}\p{N}_|>])/gu, '')
    .toLowerCase();
}

/** Words that were written with a space, a dot or a dash after each letter, as words. */
export function joinedLetters(folded: string): string {
  return folded.replaceAll(
    /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}](?:[^\S\n]|[._\-+|/]){1,2}){3,}[\p{L}\p{N}](?![\p{L}\p{N}])/gu,
    (spaced) =>
      spaced
        // Two separators part words where one parts letters.
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
    // Of the characters that there are, a text may have all.
    if (known.size < 10_000) known.set(character, ascii);
  }
  return ascii;
}
