import {
  type CallDecision,
  type PendingApproval,
  pendingCalls,
  type ToolSession,
} from '@ethosagent/core';
import type { ToolCall } from '@ethosagent/types';
import type { ToolModelMessage } from 'ai';
import { refuse } from './approvals.js';

/** The `content` of a result of `ai`. */
export type AnswerableContent = readonly { type: string }[];

/** A call that waits, with the id by which `ai` knows the question. */
export interface WaitingApproval extends PendingApproval {
  approvalId: string;
}

/**
 * Answers what a run of `ai` was paused for. Each decision goes to the session, which holds the
 * call to it. Append the message to those of the run, and go on. Requests for tools that are not of
 * the session are left to the caller.
 *
 * @param session whose tools the run has
 * @param content of the run's last step
 * @param decide is asked about each call that waits
 * @returns the message with the answers
 * @throws as `ToolSession.decide`
 */
export async function answerApprovals(
  session: ToolSession,
  content: AnswerableContent,
  decide: (approval: WaitingApproval) => CallDecision | Promise<CallDecision>,
): Promise<ToolModelMessage> {
  const answers: ToolModelMessage['content'] = [];
  const pending = new Map(
    (await pendingCalls(session)).map((waiting) => [waiting.toolCallId, waiting]),
  );
  for (const { approvalId, call } of content.flatMap(requestOf)) {
    const waiting = pending.get(call.toolCallId);
    if (waiting === undefined) continue;
    const decision = await decide({ ...waiting, approvalId });
    const { approved, reason, by } = decision;
    if (approved) {
      await session.decide(waiting, decision);
    } else {
      const said = { ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) };
      await refuse(session, waiting, { call, said });
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

function requestOf(part: { type: string }): { approvalId: string; call: ToolCall }[] {
  if (part.type !== 'tool-approval-request') return [];
  const { approvalId, toolCall }: { approvalId?: unknown; toolCall?: unknown } = Object(part);
  const call: { toolCallId?: unknown; toolName?: unknown; input?: unknown } = Object(toolCall);
  const { toolCallId, toolName: name, input: args } = call;
  if (typeof approvalId !== 'string') return [];
  if (typeof toolCallId !== 'string' || typeof name !== 'string') return [];
  return [{ approvalId, call: { toolCallId, name, args } }];
}
