import { type PendingApproval, pendingCalls, type ToolSession } from '@ethosagent/core';
import type { RunToolApprovalItem } from '@openai/agents';

/**
 * The question of the session behind an interruption of a run: reach, reason and sources, beside
 * the arguments. With it, `session.decide` can give the call other arguments.
 *
 * @param session whose tools the run has
 * @param interruption of the run
 * @returns `undefined` where the session has no such question, as for a tool of another kind
 */
export async function pendingFor(
  session: Pick<ToolSession, 'pending'>,
  interruption: RunToolApprovalItem,
): Promise<PendingApproval | undefined> {
  const { rawItem } = interruption;
  if (rawItem.type !== 'function_call') return undefined;
  return (await pendingCalls(session)).find(({ toolCallId }) => toolCallId === rawItem.callId);
}
