/** Text from outside as one line: white space and control characters as one space, cut, well-formed. */
export function oneLine(text: string, maxChars: number): string {
  // Eight times the length is enough, unless the beginning is nearly all white space.
  const plain = text
    .slice(0, maxChars * 8)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return plain.slice(0, maxChars).toWellFormed();
}
