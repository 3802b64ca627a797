import type { CallDecision, PendingApproval, ToolSession } from '@ethosagent/core';
import { EthosError } from '@ethosagent/types';
import { questionOf } from './suspension.js';

/** What a suspended run of Mastra is resumed with. */
export interface ApprovalAnswer {
  approved: boolean;
  reason?: string;
}

/**
 * Answers what a run was suspended for. The decision goes to the session, which holds the call to
 * it. Resume the run with the data that this returns. Other resume data approves nothing.
 *
 * @param session whose tool was called
 * @param suspended the `suspendPayload` of a result, or the `payload` of a `tool-call-suspended` chunk
 * @param decide may change the arguments, or say yes for longer; it is not asked where somebody
 * decided already
 * @returns the data to resume the run with
 * @throws `APPROVAL_INVALID` where the session does not wait for such a call
 * @throws as `ToolSession.decide`
 */
export async function answerApproval(
  session: Pick<ToolSession, 'pending' | 'decide'>,
  suspended: unknown,
  decide: (approval: PendingApproval) => CallDecision | Promise<CallDecision>,
): Promise<ApprovalAnswer> {
  const asked = askedIn(suspended);
  const waiting = (await session.pending()).find(
    ({ toolCallId, question }) => toolCallId === asked?.toolCallId && question === asked.question,
  );
  if (waiting === undefined) {
    throw new EthosError('APPROVAL_INVALID', 'the session does not wait for such a call');
  }
  if (waiting.decision !== undefined) return answerOf(waiting.decision);
  const decision = await decide(waiting);
  await session.decide(waiting, decision);
  return answerOf(decision);
}

/** How deep agents may be nested as tools of one another. */
const MAX_DEPTH = 16;

/**
 * The question. If an agent is the tool of another one, its payload is inside the other's payload.
 */
function askedIn(suspended: unknown, depth = 0): ReturnType<typeof questionOf> {
  const { suspendPayload }: { suspendPayload?: unknown } = Object(suspended);
  if (suspendPayload === undefined || depth === MAX_DEPTH) return undefined;
  return questionOf(suspendPayload) ?? askedIn(suspendPayload, depth + 1);
}

function answerOf({ approved, reason }: CallDecision): ApprovalAnswer {
  return { approved, ...(reason !== undefined && { reason }) };
}
