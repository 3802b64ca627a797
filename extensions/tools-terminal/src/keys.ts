/** The characters that a terminal sends for each key with a name. */
const NAMED: Readonly<Record<string, string>> = {
  Enter: '\r',
  Tab: '\t',
  Escape: '\u001b',
  Space: ' ',
  Backspace: '\u007f',
  Delete: '\u001b[3~',
  Up: '\u001b[A',
  Down: '\u001b[B',
  Right: '\u001b[C',
  Left: '\u001b[D',
  Home: '\u001b[H',
  End: '\u001b[F',
  PageUp: '\u001b[5~',
  PageDown: '\u001b[6~',
};

/** Matches the names of keys, and `Ctrl-` with a letter. */
export const KEY_NAME = new RegExp(`^(?:${Object.keys(NAMED).join('|')}|Ctrl-[A-Z])$`);

/** Returns the characters that a terminal sends for a key. */
export function keyText(name: string): string {
  const letter = /^Ctrl-([A-Z])$/.exec(name)?.[1];
  if (letter !== undefined) return String.fromCharCode(letter.charCodeAt(0) - 64);
  return NAMED[name] ?? '';
}
