/** A text of the page as one line of at most so many characters. */
export function oneLine(text: string, maxChars: number): string {
  // Twice as much is enough to fill the line, and keeps the work small.
  const line = text
    .slice(0, maxChars * 2)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line.length <= maxChars && text.length <= maxChars * 2) return line;
  return `${line.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
