import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeMcp } from '@ethosagent/wiring';
import { usageError } from './cli-error.js';
import type { CommandContext } from './command-context.js';

/** The message for a personality without servers. */
export const NO_SERVERS = 'there are no MCP servers; "ethosagent mcp add" writes one into mcp.json';

/** Whether the home describes MCP servers, in a file or in its configuration. */
export async function hasMcpServers(context: CommandContext): Promise<boolean> {
  const { mcp } = await context.config();
  const file = join(context.home, 'mcp.json');
  return mcp !== undefined || statSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** The started MCP servers of a personality. @throws `CONFIG_INVALID` if the home has none */
export async function openMcpServers(
  context: CommandContext,
): Promise<{ mcp: RuntimeMcp; personality: string }> {
  if (!(await hasMcpServers(context))) throw usageError(NO_SERVERS);
  const { mcp: configured } = await context.config();
  const runtime = await context.openRuntime({ mcp: configured ?? true });
  // The first request for its tools starts its servers.
  await runtime.definitions();
  if (runtime.mcp === undefined) throw usageError('the runtime has no MCP servers');
  return { mcp: runtime.mcp, personality: runtime.personalityId };
}
