import type { ToolSession } from '@ethosagent/core';
import { cutOffBy, type ToolUseMessage, toolUsesOf } from './tool-use.js';

/**
 * Records the calls of tools that the tool runner does not have, which it answers by itself.
 * Nothing runs. Call it in the loop over the runner, once for each message. `runToolUse` does it
 * without being asked.
 *
 * @param session of the agent
 * @param message of the model
 * @param tools all that the runner has, also your own
 */
export async function recordUnknownTools(
  session: Pick<ToolSession, 'refuse'>,
  message: ToolUseMessage,
  tools: readonly object[],
): Promise<void> {
  if (cutOffBy(message) !== undefined) return;
  const names = new Set(tools.map((tool) => ('name' in tool ? tool.name : undefined)));
  for (const { call, toolset } of toolUsesOf(message)) {
    if (toolset !== undefined || names.has(call.name)) continue;
    await session.refuse(call, {
      code: 'not_available',
      error: `the agent has no tool ${call.name}`,
    });
  }
}
