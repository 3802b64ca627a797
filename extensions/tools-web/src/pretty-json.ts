const MAX_CHARS = 5_000_000;

/** Indents JSON. Invalid JSON stays as it is, and so does JSON that would become too long. */
export function prettyJson(text: string): string {
  if (prettyLength(text) > MAX_CHARS) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/**
 * Returns how long the indented JSON is at most: a line with its indent after each bracket and
 * comma.
 */
function prettyLength(text: string): number {
  let length = text.length;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length && length <= MAX_CHARS; at += 1) {
    const char = text[at];
    if (char === '"') isString = !isString;
    else if (isString) at += char === '\\' ? 1 : 0;
    else if (char === '[' || char === '{') length += 1 + 2 * ++depth;
    else if (char === ']' || char === '}') length += 1 + 2 * Math.max(--depth, 0);
    else if (char === ',') length += 1 + 2 * Math.max(depth, 0);
    else if (char === ':') length += 1;
  }
  return length;
}
