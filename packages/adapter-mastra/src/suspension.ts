import type { PendingApproval } from '@ethosagent/core';

/**
 * What a tool is suspended with: which question of the session it is. What is asked stays in the
 * session, with the names of untrusted sources: with `autoResumeSuspendedTools`, Mastra puts this
 * into the system prompt.
 */
export type ApprovalSuspension = Pick<PendingApproval, 'toolCallId' | 'question' | 'toolName'>;

export function suspensionOf(approval: PendingApproval): ApprovalSuspension {
  const { toolCallId, question, toolName } = approval;
  return { toolCallId, question, toolName };
}

/** The part of a suspension that says which question it is; `undefined` for that of another tool. */
export function questionOf(
  payload: unknown,
): Pick<ApprovalSuspension, 'toolCallId' | 'question'> | undefined {
  const { toolCallId, question }: Partial<Record<keyof ApprovalSuspension, unknown>> =
    Object(payload);
  if (typeof toolCallId !== 'string' || typeof question !== 'string') return undefined;
  return { toolCallId, question };
}
