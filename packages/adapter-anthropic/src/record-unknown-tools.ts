import type { ToolSession } from '@ethosagent/core';
import { cutOffBy, type ToolUseMessage, toolUsesOf } from './tool-use.js';

/**
 * Has the session write down the calls of a message that the tool runner answers by itself: those of
 * tools that it does not have. Nothing runs. For the body of the runner's loop, once for each message;
 * `runToolUse` writes down all calls without it.
 *
 * @param tools those of the runner, your own included
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
