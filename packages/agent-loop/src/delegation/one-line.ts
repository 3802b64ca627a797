/** Without what moves a cursor or can't be seen, cut at so many characters, never inside a pair. */
export function oneLine(text: string, maxChars: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  if (line.length <= maxChars) return line;
  return `${line.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
