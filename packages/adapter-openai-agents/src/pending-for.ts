import { type PendingApproval, pendingCalls, type ToolSession } from '@ethosagent/core';
import type { RunToolApprovalItem } from '@openai/agents';

/**
 * What an interruption of a run asks: reach, reason and sources, beside the arguments. With it,
 * `session.decide` takes other arguments than the model gave.
 *
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
