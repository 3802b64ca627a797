/** What a meet can't see of the host by itself. */
export interface MeetOptions {
  /**
   * The names of the tools that entries of a toolset stand for; those that stand for nothing are
   * left out. Without it entries meet as they are written, so that a label and a tool of it share
   * nothing.
   */
  expand?: (entries: readonly string[]) => readonly string[];
  /**
   * Where a folder is once links are followed. Without it folders meet by how they are written: a
   * folder of one personality that is a link to elsewhere would then be reached under a folder of
   * the other.
   */
  realPath?: (path: string) => string;
}

/**
 * The entries that are in both lists, either as written or among the tools that an entry stands
 * for.
 */
export function meetEntries(
  a: readonly string[],
  b: readonly string[],
  expand: MeetOptions['expand'],
): string[] {
  const right = new Set([...b, ...(expand?.(b) ?? [])]);
  return [...new Set([...a, ...(expand?.(a) ?? [])])].filter((entry) => right.has(entry));
}
