import { once } from '../once.js';
import { ESCAPE_SEQUENCE, hasControls, withoutControls, withoutEscapes } from './controls.js';
import { shorten, takeStart } from './cut-text.js';
import { hasInvisible, INVISIBLE_CLASS, withoutInvisible } from './invisible.js';
import { plainLines } from './lines.js';
import { foldLookalikes } from './lookalikes.js';
import { modelTokens } from './model-tokens.js';

/**
 * A global pattern for everything that cleaning may take out of a text: escape sequences, invisible
 * characters, and controls except for the tab and line ends.
 *
 * @returns the pattern
 */
export const takenOutPattern: () => RegExp = once(
  () => new RegExp(`${ESCAPE_SEQUENCE.source}|(?![\\t\\n\\r])[${INVISIBLE_CLASS}\\p{Cc}]`, 'gu'),
);

/**
 * Finds something in a text that a person would not see, or that a chat template would take for one
 * of its own tokens.
 *
 * @param text to look at
 * @returns what was found, for a message, or `undefined`
 */
export function hiddenIn(text: string): string | undefined {
  if (!text.isWellFormed()) return 'half a character';
  if (hasControls(text)) return 'control characters';
  if (hasInvisible(text) || /[\u2028\u2029]/.test(text)) return 'characters that nobody sees';
  return modelTokens(foldLookalikes(text)).next().done ? undefined : "a chat template's token";
}

/**
 * What a person sees of a text: no escape sequences of terminals, no control characters except tabs
 * and line feeds, no invisible characters, no halves of characters.
 *
 * @param text of any length
 * @returns the rest, with line feeds as its only line ends
 */
export function visibleText(text: string): string {
  const plain = plainLines(withoutControls(withoutEscapes(text.toWellFormed())));
  return withoutInvisible(plain);
}

/**
 * A text of a stranger for a model or a person: no hidden characters, no chat-template tokens.
 *
 * @param text of any length; all but its beginning is dropped first
 * @param maxChars in UTF-16 code units, the mark of a cut among them
 * @returns the text, trimmed
 */
export function cleanText(text: string, maxChars: number): string {
  const visible = visibleText(takeStart(text, maxChars * 4));
  const clean = withoutModelTokens(visible).trim();
  return clean.length <= maxChars ? clean : shorten(clean, maxChars - 1);
}

function withoutModelTokens(text: string): string {
  const parts: string[] = [];
  let done = 0;
  for (const at of [...new Set(modelTokens(foldLookalikes(text)))].sort((a, b) => a - b)) {
    parts.push(text.slice(done, at), '‹');
    done = at + String.fromCodePoint(text.codePointAt(at) ?? 0).length;
  }
  return parts.join('') + text.slice(done);
}

/**
 * A stranger's text, as `cleanText` gives it, on one line.
 *
 * @param text of any length
 * @param maxChars in UTF-16 code units, the mark of a cut among them
 * @returns the line
 */
export function cleanLine(text: string, maxChars: number): string {
  return cleanText(takeStart(text, maxChars * 8).replace(/\s+/g, ' '), maxChars);
}
