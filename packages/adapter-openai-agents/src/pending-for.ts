import {
  assertToolSession,
  type PendingApproval,
  pendingCalls,
  type ToolSession,
} from '@ethosagent/core';
import { EthosError } from '@ethosagent/types';
import type { RunToolApprovalItem } from '@openai/agents';

/**
 * Returns the question of the session behind an interruption of a run: the reach, the reason, the
 * sources and the arguments. With it, `session.decide` can give the call other arguments.
 *
 * @param session the session of the tools
 * @param interruption the interruption of the run
 * @returns the question; `undefined` if the session has no such question, e.g. for a tool that is
 * not of the session
 * @throws `CONFIG_INVALID` for something else than a session, or than an interruption
 */
export async function pendingFor(
  session: Pick<ToolSession, 'pending'>,
  interruption: RunToolApprovalItem,
): Promise<PendingApproval | undefined> {
  assertToolSession('pendingFor', session, ['pending']);
  const { rawItem }: Partial<RunToolApprovalItem> = Object(interruption);
  if (rawItem === undefined) {
    throw new EthosError(
      'CONFIG_INVALID',
      'pendingFor: give an interruption of a run, after await',
    );
  }
  if (rawItem.type !== 'function_call') return undefined;
  return (await pendingCalls(session)).find(({ toolCallId }) => toolCallId === rawItem.callId);
}
