import { once } from '../once.js';

/**
 * The flags of England, Scotland and Wales. No other sequences of tag characters are emoji. All
 * others spell invisible text.
 */
const TAG_FLAG =
  '\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}';

/** Scripts that use joiners in ordinary words, to change the shape of letters. */
const JOINING = [
  ...['Arabic', 'Syriac', 'Nko', 'Mandaic', 'Mongolian', 'Phags_Pa', 'Adlam', 'Hanifi_Rohingya'],
  ...['Hebrew', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu'],
  ...['Kannada', 'Malayalam', 'Sinhala', 'Tibetan', 'Myanmar', 'Khmer', 'Balinese', 'Javanese'],
]
  .map((script) => `\\p{scx=${script}}`)
  .join('');

/** Invisible characters that are needed after the character before them. */
const NEEDED = [
  TAG_FLAG,
  // Within an emoji: 👩‍🚀, 🏳️‍🌈.
  '\\u200D(?<=\\p{ExtPict}[\\uFE0F\\p{EMod}]?\\u200D)(?=\\p{ExtPict})',
  // To choose the form of an emoji or of text: ❤️, ▶︎; and keycaps: 1️⃣.
  '[\\uFE0E\\uFE0F](?<=(?![0-9#*])\\p{Emoji}[\\uFE0E\\uFE0F])',
  '\\uFE0F(?<=[0-9#*]\\uFE0F)(?=\\u20E3)',
  // One joiner, never two in a row.
  `[\\u200C\\u200D](?<=[${JOINING}][\\u200C\\u200D])(?<![\\u200C\\u200D]{2})`,
  '[\\u180B-\\u180F](?<=\\p{sc=Mongolian}[\\u180B-\\u180F])(?<![\\u180B-\\u180F]{2})',
  // The position of parts in a group of hieroglyphs.
  '[\\u{13430}-\\u{1343F}](?<=[\\u{13000}-\\u{1342F}][\\u{13430}-\\u{1343F}]{1,3})',
].join('|');

/**
 * The characters that nobody sees, for a character class of a pattern with the `u` flag: characters
 * without width, those that turn the direction of text, fill space or select a variant, and tags.
 * Controls and ends of lines are not among them. The interlinear marks and the controls of
 * hieroglyphs are: Unicode does not call them ignorable, but nobody sees them. The Arabic number
 * signs are not: they are format characters that people do see.
 */
export const INVISIBLE_CLASS = '\\p{DI}\\uFFF9-\\uFFFB\\u{13430}-\\u{1343F}';

// Most texts have nothing outside ASCII, and so nothing that the patterns below would find.
const NOT_ASCII = /[^\0-\x7F]/;
const NOT_PRINTABLE_ASCII = /[^ -~]/;

// Each takes some milliseconds to build, since it looks up properties of Unicode.
const invisible = once(() => new RegExp(`(${NEEDED})|[${INVISIBLE_CLASS}]`, 'gu'));
const shown = once(() => new RegExp(`(${NEEDED})|[${INVISIBLE_CLASS}\\u2028\\u2029]`, 'gu'));
const shownInLine = once(
  () => new RegExp(`(${NEEDED})|[${INVISIBLE_CLASS}\\p{Zl}\\p{Zp}\\p{Cc}]`, 'gu'),
);
const hidden = once(() => new RegExp(`[${INVISIBLE_CLASS}\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]`, 'gu'));

/**
 * Takes out characters that nobody sees, except for those that emoji and scripts need where they stand.
 *
 * @param text to clean
 * @returns the rest
 */
export function withoutInvisible(text: string): string {
  return NOT_ASCII.test(text) ? text.replace(invisible(), '$1') : text;
}

/**
 * Whether `withoutInvisible` would take something out.
 *
 * @param text to look at
 */
export function hasInvisible(text: string): boolean {
  if (!NOT_ASCII.test(text)) return false;
  for (const [, needed] of text.matchAll(invisible())) if (needed === undefined) return true;
  return false;
}

/**
 * Shows characters that nobody sees, and the line ends that few programs know, by their numbers:
 * `<U+202E>`. Characters that emoji and scripts need where they stand are left as they are.
 *
 * @param text to show
 * @returns the text with numbers where such characters were
 */
export function showInvisible(text: string): string {
  return NOT_ASCII.test(text) ? text.replace(shown(), numbered) : text;
}

/**
 * As `showInvisible`, and also shows controls and line breaks: for a text that must be one line.
 *
 * @param text to show
 * @returns one line
 */
export function showHidden(text: string): string {
  return NOT_PRINTABLE_ASCII.test(text) ? text.replace(shownInLine(), numbered) : text;
}

/**
 * Takes out every character that nobody sees, controls, line ends and halves of surrogate pairs.
 * For names, which need no such character.
 *
 * @param text a name
 * @returns the rest
 */
export function withoutHidden(text: string): string {
  return NOT_PRINTABLE_ASCII.test(text) ? text.replace(hidden(), '') : text;
}

function numbered(character: string, needed: string | undefined): string {
  if (needed !== undefined) return needed;
  const code = character.codePointAt(0) ?? 0;
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
