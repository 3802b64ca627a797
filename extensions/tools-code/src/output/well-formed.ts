/** Drops half a surrogate pair from the end. */
export function wellFormedEnd(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}

/** Drops half a surrogate pair from the start. */
export function wellFormedStart(text: string): string {
  return /^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text;
}

/** At most `maxChars` characters from the start, with a mark where something was cut. */
export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${wellFormedEnd(text.slice(0, maxChars))}…`;
}

/** Whole parts of at most `maxChars` characters. */
export function chunksOf(text: string, maxChars: number): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; ) {
    const chunk = text.slice(start, start + maxChars);
    const isLast = start + chunk.length === text.length;
    const whole = isLast ? chunk : wellFormedEnd(chunk);
    chunks.push(whole);
    start += whole.length;
  }
  return chunks;
}
