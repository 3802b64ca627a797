const MAX_PATTERN_CHARS = 400;

/** As much of a line as patterns are tried on: some take time that grows faster than the line. */
export function clip(line = ''): string {
  return line.length > MAX_PATTERN_CHARS ? line.slice(0, MAX_PATTERN_CHARS) : line;
}
