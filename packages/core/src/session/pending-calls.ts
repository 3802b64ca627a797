import type { PendingApproval, ToolSession } from './session-api.js';

/**
 * The calls that wait in a session, without those of an agent's turns. An agent's model may have
 * used the same call id, and such a call must not be taken for the session's own.
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
