/** The escape sequences of terminals. */
export const ESCAPE_SEQUENCE = new RegExp(
  [
    // CSI: colours, the cursor.
    '(?:\\x1B\\[|\\x9B)[0-?]*[ -/]*[@-~]',
    // OSC, DCS, SOS, PM, APC: titles, links, pictures. A match stays on one line and ends before
    // the next sequence. So one without an end does not swallow the rest, and many of them don't
    // cost quadratic time.
    '(?:\\x1B[\\]PX^_]|[\\x9D\\x90\\x98\\x9E\\x9F])[^\\x07\\x1B\\x90\\x98\\x9C-\\x9F\\r\\n]*(?:\\x07|\\x1B\\\\|\\x9C)',
    '\\x1B[ -/]+[0-~]',
    // Without `P` and `X`: these begin a string of the kind above, here one without an end.
    '\\x1B[0-OQ-WYZ\\\\`-~]',
    '\\x1B',
  ].join('|'),
  'g',
);
const CONTROLS = /(?![\t\n\r])\p{Cc}/gu;

/**
 * Takes out the escape sequences of terminals: colours, titles, links, and cursor movements.
 *
 * @param text what a program printed
 * @returns the rest
 */
export function withoutEscapes(text: string): string {
  return text.replace(ESCAPE_SEQUENCE, '');
}

/**
 * Takes out control characters, except for the tab, the line feed and the carriage return.
 *
 * @param text to clean
 * @returns the rest
 */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, '');
}

/**
 * Whether `withoutControls` would take something out.
 *
 * @param text to look at
 */
export function hasControls(text: string): boolean {
  return text.search(CONTROLS) >= 0;
}

/**
 * Replaces the control characters that `withoutControls` takes out by their pictures: `␀`.
 *
 * @param text to show
 * @returns a text of the same length
 */
export function showControls(text: string): string {
  return text.replace(CONTROLS, (control) => {
    const code = control.charCodeAt(0);
    if (code > 0x7f) return '\uFFFD';
    return code === 0x7f ? '\u2421' : String.fromCharCode(0x2400 + code);
  });
}
