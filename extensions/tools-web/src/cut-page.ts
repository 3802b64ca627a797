/** A part of a text. */
export interface PageCut {
  start: number;
  /** Where the next part begins. */
  end: number;
}

// A page is at least this part of the possible length, so the cut does not go back too far for a
// paragraph's end.
const MIN_FILL = 0.5;

/**
 * Finds the end of the part that begins at `start`: after a paragraph, else after a line, a
 * sentence or a word, and never within a character.
 *
 * @param start in UTF-16 code units, like all numbers here
 */
export function cutPage(text: string, start: number, maxChars: number): PageCut {
  const limit = start + maxChars;
  if (text.length <= limit) return { start, end: text.length };
  const earliest = start + Math.max(1, Math.floor(maxChars * MIN_FILL));
  const page = text.slice(earliest, limit);
  for (const mark of ['\n\n', '\n', '. ', ' ']) {
    const at = page.lastIndexOf(mark);
    if (at >= 0) return { start, end: earliest + at + mark.length };
  }
  return {
    start,
    end: isHighSurrogate(text.charCodeAt(limit - 1)) ? Math.max(limit - 1, start + 1) : limit,
  };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
