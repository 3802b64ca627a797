/** Larger than every text: SQLite sorts every BLOB after every TEXT. */
const ABOVE_ALL_TEXT = Buffer.alloc(0);

const MAX_CODE_POINT = 0x10ffff;

/**
 * Returns the smallest value above every text that starts with `prefix`, in code point order. So
 * `key >= prefix AND key < bound` selects exactly the keys with the prefix.
 *
 * @param prefix a well-formed string
 * @returns a string, or an empty BLOB if no text is above all of them
 */
export function prefixUpperBound(prefix: string): string | Buffer {
  let end = prefix.length;
  while (end > 0) {
    const start = end - (isLowSurrogate(prefix.charCodeAt(end - 1)) ? 2 : 1);
    const last = prefix.codePointAt(start) ?? MAX_CODE_POINT;
    if (last < MAX_CODE_POINT) {
      // Surrogates are not characters, so U+E000 follows U+D7FF.
      return prefix.slice(0, start) + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
    }
    end = start;
  }
  return ABOVE_ALL_TEXT;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
