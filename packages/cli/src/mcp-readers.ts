import { hasMcpServer } from '@ethosagent/policy';
import type { RuntimeMcp } from '@ethosagent/wiring';
import type { CommandContext } from './command-context.js';

/** A bridge that starts no server. */
const NONE: RuntimeMcp = {
  start: async () => [],
  stop: async () => {},
  status: () => [],
  pending: () => [],
  accept: async () => [],
  close: async () => {},
};

/**
 * The personalities that get a server: those that name it, and those that name no servers and so
 * have all. No server is started.
 */
export async function mcpReaders(
  server: string,
  context: CommandContext,
): Promise<{ naming: string[]; all: string[] }> {
  const ids = context.personalityIds();
  const [first = ''] = ids;
  const runtime = await context.openRuntime({ personality: first, mcp: () => NONE });
  const naming: string[] = [];
  const all: string[] = [];
  for (const id of ids) {
    const { mcp_servers } = await runtime.personality(id);
    if (mcp_servers === undefined) all.push(id);
    else if (hasMcpServer(mcp_servers, server)) naming.push(id);
  }
  return { naming, all };
}
