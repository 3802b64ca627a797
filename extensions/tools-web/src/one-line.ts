/**
 * Returns text from outside on one line, cut to `maxChars`. White space and control characters
 * become single spaces, and broken characters are replaced.
 */
export function oneLine(text: string, maxChars: number): string {
  // Eight times the length is enough, unless the beginning is nearly all white space.
  const plain = text
    .slice(0, maxChars * 8)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return plain.slice(0, maxChars).toWellFormed();
}
