/**
 * At most `maxChars` UTF-16 code units of the beginning of a text. The result never ends in half a
 * surrogate pair, even if the text does: a text that was read in pieces may be cut within a pair.
 *
 * @param text of any length
 * @param maxChars in UTF-16 code units
 * @returns the beginning
 */
export function takeStart(text: string, maxChars: number): string {
  const start = text.slice(0, Math.max(maxChars, 0));
  const whole = isHighSurrogate(start.charCodeAt(start.length - 1)) ? start.slice(0, -1) : start;
  return text.length > LONG_CHARS && whole.length < text.length / 2 ? copyOf(whole) : whole;
}

const LONG_CHARS = 100_000;

/** V8 keeps a text in memory as long as a part of it that was not copied. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/**
 * At most `maxChars` UTF-16 code units of the end of a text. Never begins with half a surrogate
 * pair.
 *
 * @param text of any length
 * @param maxChars in UTF-16 code units
 * @returns the end
 */
export function takeEnd(text: string, maxChars: number): string {
  const end = maxChars > 0 ? text.slice(-maxChars) : '';
  return isLowSurrogate(end.charCodeAt(0)) ? end.slice(1) : end;
}

/**
 * The beginning of a text, with a mark where something was cut.
 *
 * @param text of any length
 * @param maxChars in UTF-16 code units, without the mark
 * @param mark `…` when absent
 * @returns the text, or its beginning and the mark
 */
export function shorten(text: string, maxChars: number, mark = '…'): string {
  return text.length <= maxChars ? text : `${takeStart(text, maxChars)}${mark}`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
