import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeMcp } from '@ethosagent/wiring';
import { usageError } from './cli-error.js';
import type { CommandContext } from './command-context.js';

/** The MCP servers of a personality, started. @throws `CONFIG_INVALID` where the home has none */
export async function openMcpServers(
  context: CommandContext,
): Promise<{ mcp: RuntimeMcp; personality: string }> {
  const { mcp: configured } = await context.config();
  const file = join(context.home, 'mcp.json');
  if (configured === undefined && statSync(file, { throwIfNoEntry: false }) === undefined) {
    throw usageError(`there is no ${file}; describe a server there first`);
  }
  const runtime = await context.openRuntime({ mcp: configured ?? true });
  // Its servers are started when its tools are first asked for.
  await runtime.definitions();
  if (runtime.mcp === undefined) throw usageError('the runtime has no MCP servers');
  return { mcp: runtime.mcp, personality: runtime.personalityId };
}
