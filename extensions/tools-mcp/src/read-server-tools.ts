import type { HeldTool } from '@ethosagent/policy';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { McpServerConfig } from './config.js';
import { listAll } from './list-all.js';
import { type ListedTool, readListedTool } from './listed-tool.js';
import { runsTasks } from './task-call.js';
import { isFilteredIn, unknownInFilter } from './tool-filter.js';

/**
 * Reads the tools that a server lists and mcp.json allows, by name, and those whose entry in the
 * list can't be used.
 */
export async function readServerTools(
  client: Client,
  server: Pick<McpServerConfig, 'tools'>,
  options: Omit<Parameters<typeof listAll>[2], 'read'>,
): Promise<{ listed: ReadonlyMap<string, ListedTool>; held: readonly HeldTool[] }> {
  const tasks = runsTasks(client);
  const read = (entry: unknown) => readListedTool(entry, tasks);
  const { items, cut } =
    client.getServerCapabilities()?.tools === undefined
      ? { items: [], cut: false }
      : await listAll(client, 'tools/list', { ...options, read });
  const listed = new Map<string, ListedTool>();
  const held: HeldTool[] = [];
  const names = new Set<string>();
  for (const tool of items) {
    const name = 'reason' in tool ? tool.tool : tool.definition.name;
    names.add(name);
    if (!isFilteredIn(server, name)) continue;
    if ('reason' in tool) held.push(tool);
    else if (listed.has(tool.definition.name)) {
      held.push({ tool: tool.definition.name, reason: 'is listed more than once' });
    } else listed.set(tool.definition.name, tool);
  }
  if (!cut) held.push(...unknownInFilter(server, names));
  if (cut) held.push({ tool: '', reason: `there are more than the first ${items.length} tools` });
  return { listed, held };
}
