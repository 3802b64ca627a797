/** The facts of a tool that entries of a toolset are compared with. */
export interface LabelledTool {
  name: string;
  /** The label of its group. */
  toolset?: string;
}

/** A toolset in which the names of the existing tools replace group labels. */
export interface ExpandedToolset {
  /** Names of tools; `undefined`: every built-in tool. */
  names: string[] | undefined;
  /** Entries that are neither a tool nor a group label here. */
  unknown: string[];
}

/**
 * Whether entries, names of tools and group labels, cover a tool. A tool's name comes before a
 * label: an entry that names a tool stands for that one alone.
 *
 * @param entries of a personality's toolset
 * @param tool its name, and the label of its group
 * @param isTool whether there is a tool of that name
 */
export function coversTool(
  entries: readonly string[],
  { name, toolset }: LabelledTool,
  isTool: (name: string) => boolean,
): boolean {
  if (entries.includes(name)) return true;
  return toolset !== undefined && entries.includes(toolset) && !isTool(toolset);
}

/**
 * Replaces group labels by the tools that carry them. A tool's name comes before a label.
 *
 * @param toolset the entries; `undefined` stands for every tool
 * @param tools all that there are
 * @returns the names of the tools, and the entries that name none
 */
export function expandToolset(
  toolset: readonly string[] | undefined,
  tools: readonly LabelledTool[],
): ExpandedToolset {
  if (toolset === undefined) return { names: undefined, unknown: [] };
  const all = new Set(tools.map(({ name }) => name));
  const labels = new Set(tools.map((tool) => tool.toolset));
  const isTool = (name: string) => all.has(name);
  const covered = tools.filter((tool) => coversTool(toolset, tool, isTool));
  return {
    names: [...new Set(covered.map(({ name }) => name))],
    unknown: toolset.filter((entry) => !isTool(entry) && !labels.has(entry)),
  };
}
