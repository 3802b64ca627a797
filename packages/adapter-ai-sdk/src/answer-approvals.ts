import {
  assertToolSession,
  type CallDecision,
  type PendingApproval,
  pendingCalls,
  type ToolSession,
} from '@ethosagent/core';
import { EthosError, type ToolCall } from '@ethosagent/types';
import type { ToolModelMessage } from 'ai';
import { refuse } from './approvals.js';

/** The `content` of a result of `ai`. */
export type AnswerableContent = readonly { type: string }[];

/** A call that waits for approval, with the id of the question in `ai`. */
export interface WaitingApproval extends PendingApproval {
  approvalId: string;
}

/**
 * Answers the approval requests of a paused run of `ai`. Each decision is stored in the session,
 * which enforces it. Append the returned message to the messages of the run, and run again. The
 * function ignores requests for tools of others; answer those yourself.
 *
 * @param session the session of the tools
 * @param content the `content` of the run's last step
 * @param decide called for each waiting call; returns the decision
 * @returns the message with the answers
 * @throws `CONFIG_INVALID` for something else than a session, a list and a function
 * @throws the errors of `ToolSession.decide`, such as `APPROVAL_INVALID` or `ALREADY_DECIDED`, and
 * those of `decide`
 */
export async function answerApprovals(
  session: ToolSession,
  content: AnswerableContent,
  decide: (approval: WaitingApproval) => CallDecision | Promise<CallDecision>,
): Promise<ToolModelMessage> {
  assertToolSession('answerApprovals', session);
  // Of a promise, no request would be answered.
  if (!Array.isArray(content)) throw invalid('give the `content` of the last step, after await');
  if (typeof decide !== 'function') throw invalid('give a function that decides on a call');
  const answers: ToolModelMessage['content'] = [];
  const pending = new Map(
    (await pendingCalls(session)).map((waiting) => [waiting.toolCallId, waiting]),
  );
  for (const { approvalId, call } of content.flatMap(requestOf)) {
    const waiting = pending.get(call.toolCallId);
    if (waiting === undefined) continue;
    const decision = await decide({ ...waiting, approvalId });
    const { approved, reason, by }: CallDecision = Object(decision);
    if (approved === false) {
      const said = { ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) };
      await refuse(session, waiting, { call, said });
    } else {
      // Of what is neither a yes nor a no, the session says what is wrong.
      await session.decide(waiting, decision);
    }
    answers.push({
      type: 'tool-approval-response',
      approvalId,
      approved,
      ...(reason !== undefined && { reason }),
    });
  }
  return { role: 'tool', content: answers };
}

function invalid(problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', `answerApprovals: ${problem}`);
}

function requestOf(part: unknown): { approvalId: string; call: ToolCall }[] {
  const { type, approvalId, toolCall }: Record<string, unknown> = Object(part);
  if (type !== 'tool-approval-request') return [];
  const call: { toolCallId?: unknown; toolName?: unknown; input?: unknown } = Object(toolCall);
  const { toolCallId, toolName: name, input: args } = call;
  if (typeof approvalId !== 'string') return [];
  if (typeof toolCallId !== 'string' || typeof name !== 'string') return [];
  return [{ approvalId, call: { toolCallId, name, args } }];
}
