/** How many spaces a line of a snapshot begins with; -1 for an empty line, and for none. */
export function depthOf(line = ''): number {
  return line.search(/[^ ]/);
}
