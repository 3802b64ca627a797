import type { PendingApproval, ToolSession } from '@ethosagent/core';
import { cutOffBy, type ToolUseMessage, toolUsesOf } from './tool-use.js';

/**
 * What the session asks before the calls of a message can run, with reach, reason and sources.
 * Nothing runs. For the body of the tool runner's loop, which comes before the tools: decide on each
 * by `session.decide`, or leave the loop and go on later with `runToolUse`.
 *
 * @returns what nobody has decided yet, in the order of the calls
 * @throws `CONFIG_INVALID` where the personality is not valid
 */
export async function pendingFor(
  session: Pick<ToolSession, 'check' | 'definitions'>,
  message: ToolUseMessage,
): Promise<PendingApproval[]> {
  const uses = cutOffBy(message) === undefined ? toolUsesOf(message) : [];
  if (uses.length === 0) return [];
  const listed = new Set((await session.definitions()).map(({ name }) => name));
  const asked: PendingApproval[] = [];
  for (const { call, toolset } of uses) {
    // What is of somebody else is not the session's to judge.
    if (toolset !== undefined || !listed.has(call.name)) continue;
    const check = await session.check(call);
    if (check.kind === 'asks') asked.push(check.approval);
  }
  return asked;
}
