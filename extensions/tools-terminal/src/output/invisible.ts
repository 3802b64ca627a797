// Marks that turn the direction of text, and characters that have no width: they hide text, or make
// one read as another. Joiners and the selectors of emoji stay, as scripts need them.
const CHARACTERS =
  '\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}';
/** The same for patterns of UTF-16 units: the planes that they begin are there as a whole. */
export const INVISIBLE_UNITS =
  '\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\udb40-\\udb43';
const INVISIBLE = new RegExp(`[${CHARACTERS}]`, 'gu');
const CONTROLS = new RegExp(`[\\u0000-\\u001f\\u007f-\\u009f${CHARACTERS}]`, 'gu');

/** Shows characters that can't be seen, such as `<U+202E>`. Controls stay. */
export function showInvisible(text: string): string {
  return text.replace(INVISIBLE, named);
}

/** The same for what must be one line: controls are shown too. */
export function showAll(text: string): string {
  return text.replace(CONTROLS, named);
}

function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
