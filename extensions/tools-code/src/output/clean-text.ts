const ESCAPE = String.fromCharCode(0x1b);
const SEQUENCES = new RegExp(
  // Colours and movements; titles and links, where they end.
  `${ESCAPE}\\[[0-?]*[ -/]*[@-~]|${ESCAPE}[\\]PX^_][^\\u0007${ESCAPE}]{0,4096}(?:\\u0007|${ESCAPE}\\\\)`,
  'g',
);
const NUL = String.fromCharCode(0);
const CONTROLS = new RegExp(`[${NUL}-\\u0008\\u000b-\\u001f\\u007f-\\u009f]`, 'g');
// What turns the direction of text, or has no width. Joiners stay, as scripts need them.
const INVISIBLE =
  /[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
// The lines that run_code itself writes around what a snippet prints.
const OWN_LINE =
  /^(?=\\*(?:\[(?:standard error\]$|it printed nothing\]$|ended by |exit code \d|\d+ characters left out\]$)|it did not end within ))/gm;

/**
 * A text that shows what it holds: without escape sequences and controls, what was written over as
 * a line of its own, and what can't be seen by its number.
 */
export function cleanText(text: string): string {
  return text
    .replace(SEQUENCES, '')
    .replace(/\r\n?/g, '\n')
    .replace(CONTROLS, '')
    .replace(INVISIBLE, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
    });
}

/** Puts a backslash before lines that would pass for those of `run_code`. */
export function quoteFrames(text: string): string {
  return text.replace(OWN_LINE, '\\');
}
