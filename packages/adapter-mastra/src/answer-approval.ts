import {
  assertToolSession,
  type CallDecision,
  type PendingApproval,
  type ToolSession,
} from '@ethosagent/core';
import { EthosError } from '@ethosagent/types';
import { questionOf } from './suspension.js';

/** The data with which a suspended run of Mastra is resumed. */
export interface ApprovalAnswer {
  approved: boolean;
  reason?: string;
}

/**
 * Answers the question for which a run was suspended. The decision is stored in the session, which
 * enforces it. Resume the run with the data that this function returns. Other resume data approves
 * nothing.
 *
 * @param session the session of the tool that was called
 * @param suspended the `suspendPayload` of a result, or the `payload` of a `tool-call-suspended`
 * chunk
 * @param decide returns the decision, which may change the arguments or approve further calls; it
 * is not called if somebody has already decided
 * @returns the data to resume the run with
 * @throws `CONFIG_INVALID` for something else than a session
 * @throws `APPROVAL_INVALID` if the session does not wait for such a call
 * @throws the errors of `ToolSession.decide`, such as `ALREADY_DECIDED`, and those of `decide`
 */
export async function answerApproval(
  session: Pick<ToolSession, 'pending' | 'decide'>,
  suspended: unknown,
  decide: (approval: PendingApproval) => CallDecision | Promise<CallDecision>,
): Promise<ApprovalAnswer> {
  assertToolSession('answerApproval', session, ['pending', 'decide']);
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

/** The greatest depth to which agents may be nested as tools of one another. */
const MAX_DEPTH = 16;

/**
 * Returns the question. If an agent is the tool of another one, its payload is inside the other's
 * payload.
 */
function askedIn(suspended: unknown, depth = 0): ReturnType<typeof questionOf> {
  const { suspendPayload }: { suspendPayload?: unknown } = Object(suspended);
  if (suspendPayload === undefined || depth === MAX_DEPTH) return undefined;
  return questionOf(suspendPayload) ?? askedIn(suspendPayload, depth + 1);
}

function answerOf({ approved, reason }: CallDecision): ApprovalAnswer {
  return { approved, ...(reason !== undefined && { reason }) };
}
