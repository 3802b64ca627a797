const MAX_PATTERN_CHARS = 400;

/** Returns the beginning of a line, for patterns whose time grows faster than the line. */
export function clip(line = ''): string {
  return line.length > MAX_PATTERN_CHARS ? line.slice(0, MAX_PATTERN_CHARS) : line;
}
