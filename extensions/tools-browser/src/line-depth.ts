/** Returns how many spaces a line of a snapshot begins with; -1 for an empty or an absent line. */
export function depthOf(line = ''): number {
  return line.search(/[^ ]/);
}
