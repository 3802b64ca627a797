import { assertToolSession, type ToolSession } from '@ethosagent/core';
import { EthosError } from '@ethosagent/types';
import { cutOffBy, type ToolUseMessage, toolUsesOf } from './tool-use.js';

/**
 * Records calls of tools that the tool runner does not have. The runner answers such calls itself.
 * No call runs. Call this function in the loop over the runner, once for each message. `runToolUse`
 * needs no such call: it records them itself.
 *
 * @param session the session of the agent
 * @param message the message of the model
 * @param tools all tools of the runner, also your own
 * @throws `CONFIG_INVALID` for something else than a session, a message and a list
 */
export async function recordUnknownTools(
  session: Pick<ToolSession, 'refuse'>,
  message: ToolUseMessage,
  tools: readonly object[],
): Promise<void> {
  assertToolSession('recordUnknownTools', session, ['refuse']);
  const uses = toolUsesOf(message);
  // Of a promise, all tools would be unknown.
  if (!Array.isArray(tools)) {
    throw new EthosError(
      'CONFIG_INVALID',
      'recordUnknownTools: give the list of all tools of the runner, after await',
    );
  }
  if (cutOffBy(message) !== undefined) return;
  const names = new Set(tools.map((tool) => ('name' in tool ? tool.name : undefined)));
  for (const { call, toolset } of uses) {
    if (toolset !== undefined || names.has(call.name)) continue;
    await session.refuse(call, {
      code: 'not_available',
      error: `the agent has no tool ${call.name}`,
    });
  }
}
