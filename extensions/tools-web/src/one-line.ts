/** Text from outside as one line: white space and control characters as one space, cut, well-formed. */
export function oneLine(text: string, maxChars: number): string {
  // What is cut off before could only be white space beyond what is kept.
  const plain = text
    .slice(0, maxChars * 8)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return plain.slice(0, maxChars).toWellFormed();
}
