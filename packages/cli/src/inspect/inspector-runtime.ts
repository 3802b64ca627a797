import { EthosError } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';
import type { CommandContext } from '../command-context.js';

/**
 * The runtime that the inspector looks through, beside that of the agent. Nothing runs in it: it has
 * no audit log of its own, so that an access, which could not be recorded, is refused. It starts no
 * MCP servers, which would be a second time, and is held to no lock: what is wider is there to see.
 *
 * @throws `CONFIG_INVALID` and others
 */
export async function openInspectorRuntime(context: CommandContext): Promise<ToolRuntime> {
  const { createToolRuntime, installedTools } = await import('@ethosagent/wiring');
  const { mcp: _, audit: __, lock: ___, ...config } = await context.config();
  const runtime = await createToolRuntime({
    tools: installedTools(),
    ...config,
    home: context.home,
    cwd: context.io.cwd,
    personality: await context.personalityId(),
    audit: {
      record() {
        throw new EthosError('STORE_UNAVAILABLE', 'the inspector runs no tools');
      },
    },
  });
  context.closeLater(runtime);
  return runtime;
}
