/** Facts of the host that a meet needs. */
export interface MeetOptions {
  /**
   * The names of the tools that entries of a toolset stand for. Entries that stand for no tool are
   * left out. Without this function entries meet as they are written, so that a label and a tool of
   * its group have nothing in common.
   */
  expand?: (entries: readonly string[]) => readonly string[];
  /**
   * Where a folder is after links are followed. Without this function folders meet by how they are
   * written. A folder of one personality may be a link to elsewhere, and that place would then be
   * reached under a folder of the other.
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
