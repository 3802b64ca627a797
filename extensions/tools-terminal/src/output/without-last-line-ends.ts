/** Returns a text without the line ends at its end, in time that grows with its length only. */
export function withoutLastLineEnds(text: string): string {
  return text.replace(/(?<!\n)\n+$/, '');
}
