import type { PendingApproval } from '@ethosagent/core';

/**
 * The data of a suspension, which names a question of the session. The content of the question,
 * with the names of untrusted sources, stays in the session: with `autoResumeSuspendedTools`,
 * Mastra puts this data into the system prompt.
 */
export type ApprovalSuspension = Pick<PendingApproval, 'toolCallId' | 'question' | 'toolName'>;

export function suspensionOf(approval: PendingApproval): ApprovalSuspension {
  const { toolCallId, question, toolName } = approval;
  return { toolCallId, question, toolName };
}

/** Returns the question in the data of a suspension; `undefined` if another tool made the data. */
export function questionOf(
  payload: unknown,
): Pick<ApprovalSuspension, 'toolCallId' | 'question'> | undefined {
  const { toolCallId, question }: Partial<Record<keyof ApprovalSuspension, unknown>> =
    Object(payload);
  if (typeof toolCallId !== 'string' || typeof question !== 'string') return undefined;
  return { toolCallId, question };
}
