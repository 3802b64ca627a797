import type { HeldTool } from '@ethosagent/policy';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { listAll } from './list-all.js';
import { type ListedTool, readListedTool } from './listed-tool.js';

/** The tools that a server lists, by name, and those that it lists in a way that can't be used. */
export async function readServerTools(
  client: Client,
  options: Parameters<typeof listAll>[2],
): Promise<{ listed: ReadonlyMap<string, ListedTool>; held: readonly HeldTool[] }> {
  const { items, cut } =
    client.getServerCapabilities()?.tools === undefined
      ? { items: [], cut: false }
      : await listAll(client, 'tools/list', options);
  const listed = new Map<string, ListedTool>();
  const held: HeldTool[] = [];
  for (const item of items) {
    const tool = readListedTool(item);
    if ('reason' in tool) held.push(tool);
    else if (listed.has(tool.definition.name)) {
      held.push({ tool: tool.definition.name, reason: 'is listed more than once' });
    } else listed.set(tool.definition.name, tool);
  }
  if (cut) held.push({ tool: '', reason: `there are more than the first ${items.length} tools` });
  return { listed, held };
}
