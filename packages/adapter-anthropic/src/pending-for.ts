import { assertToolSession, type PendingApproval, type ToolSession } from '@ethosagent/core';
import { cutOffBy, type ToolUseMessage, toolUsesOf } from './tool-use.js';

/**
 * Returns the questions of the session about the calls of a message, with the reach, the reason and
 * the sources. No call runs. Call it in the loop over the tool runner, before the tools run. Then
 * decide on each call with `session.decide`, or leave the loop and continue later with
 * `runToolUse`.
 *
 * @param session the session of the tools
 * @param message the message of the model
 * @returns the calls that still need a decision, in their order
 * @throws `CONFIG_INVALID` if the personality is not valid, for a promise of a message, or for something else
 * than a session
 */
export async function pendingFor(
  session: Pick<ToolSession, 'check' | 'definitions'>,
  message: ToolUseMessage,
): Promise<PendingApproval[]> {
  assertToolSession('pendingFor', session, ['check', 'definitions']);
  const uses = toolUsesOf(message);
  if (uses.length === 0 || cutOffBy(message) !== undefined) return [];
  const listed = new Set((await session.definitions()).map(({ name }) => name));
  const asked: PendingApproval[] = [];
  for (const { call, toolset } of uses) {
    // The session only checks calls of its own tools.
    if (toolset !== undefined || !listed.has(call.name)) continue;
    const check = await session.check(call);
    if (check.kind === 'asks') asked.push(check.approval);
  }
  return asked;
}
