import { shorten, takeStart } from './cut-text.js';
import { withoutInvisible } from './invisible.js';

/**
 * Replaces every end of a line by a line feed: CRLF, CR, NEL, and the separators of Unicode.
 *
 * @param text with any line ends
 * @returns the text with ` ` alone
 */
export function plainLines(text: string): string {
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n');
}

/**
 * A text from outside as one line. Each run of white space, line ends and control characters
 * becomes one space; characters that nobody sees are dropped; a cut never splits a surrogate pair.
 *
 * @param text of any length
 * @param maxChars in UTF-16 code units, without the mark
 * @param mark stands at the end where something was cut; `…` when absent
 * @returns the line
 */
export function oneLine(text: string, maxChars: number, mark = '…'): string {
  // A start that is long enough to fill the line, unless most of it is white space. This limits the
  // work.
  const start = takeStart(text, maxChars * 8);
  const line = withoutInvisible(start.toWellFormed())
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return start.length < text.length && line.length <= maxChars
    ? `${line}${mark}`
    : shorten(line, maxChars, mark);
}
