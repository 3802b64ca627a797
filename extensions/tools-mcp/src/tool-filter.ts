import type { HeldTool } from '@ethosagent/policy';
import type { McpServerConfig } from './config.js';

/** Whether mcp.json allows a tool of a server. */
export function isFilteredIn({ tools }: Pick<McpServerConfig, 'tools'>, tool: string): boolean {
  if (tools === undefined) return true;
  if (tools.exclude.includes(tool)) return false;
  return tools.include === undefined || tools.include.includes(tool);
}

/** Returns the names in mcp.json that no tool of the server has. They are probably misspelt. */
export function unknownInFilter(
  { tools }: Pick<McpServerConfig, 'tools'>,
  listed: ReadonlySet<string>,
): HeldTool[] {
  const named = new Set([...(tools?.include ?? []), ...(tools?.exclude ?? [])]);
  return [...named]
    .filter((tool) => tool !== '*' && !listed.has(tool))
    .map((tool) => ({ tool, reason: 'is named in mcp.json, and the server has no such tool' }));
}
