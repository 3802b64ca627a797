import type { PendingApproval, ToolSession } from './session-api.js';

/**
 * The calls that wait in a session, without those of an agent's turns: whoever knows a call by its id
 * alone must not take a call of an agent, whose model gave it the same id, for its own.
 *
 * @param session to look at
 * @returns the calls, the oldest first
 * @throws what `pending` of the session throws
 */
export async function pendingCalls(
  session: Pick<ToolSession, 'pending'>,
): Promise<PendingApproval[]> {
  return (await session.pending()).filter(({ turn }) => turn === undefined);
}
