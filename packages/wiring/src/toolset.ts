import type { AnyTool } from '@ethosagent/types';

/** A personality's toolset, met with the tools that there are. */
export interface ExpandedToolset {
  /** Names of tools; `undefined`: every built-in tool. */
  names: string[] | undefined;
  /** Entries that are neither a tool nor a group label here. */
  unknown: string[];
}

/** Replaces group labels by the tools that carry them. A tool's name comes before a label. */
export function expandToolset(
  toolset: readonly string[] | undefined,
  tools: readonly AnyTool[],
): ExpandedToolset {
  if (toolset === undefined) return { names: undefined, unknown: [] };
  const names = new Set<string>();
  const unknown: string[] = [];
  for (const entry of toolset) {
    const named = tools.filter(({ name }) => name === entry);
    const found = named.length > 0 ? named : tools.filter(({ toolset: label }) => label === entry);
    if (found.length === 0) unknown.push(entry);
    for (const { name } of found) names.add(name);
  }
  return { names: [...names], unknown };
}
