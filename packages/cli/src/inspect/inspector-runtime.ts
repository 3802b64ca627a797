import { EthosError } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';
import type { CommandContext } from '../command-context.js';

/**
 * Opens a runtime for the inspector, beside that of the agent. It only looks: it has no audit log,
 * so every access is refused, since it can't be recorded. It starts no MCP servers, since the agent
 * has already started them. It has no lock, so that a wider reach can be seen.
 *
 * @throws `CONFIG_INVALID` for an invalid home, and as `createToolRuntime`
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
