import type { ToolCall } from '@ethosagent/types';
import type { ModelMessage } from 'ai';

/** A call with an answer, as the messages contain it. */
export interface AnsweredCall {
  approvalId: string;
  call: ToolCall;
  approved: boolean;
  reason?: string;
}

/**
 * Returns the answers in the messages, each with its call. The last answer to a request counts.
 * @param of `last` for the answers that `ai` uses, which are in the last message
 */
export function answeredCalls(
  messages: readonly ModelMessage[],
  of: 'all' | 'last',
): AnsweredCall[] {
  const answering = of === 'last' ? messages.slice(-1) : messages;
  // Most messages contain no answer. Then nothing is looked up.
  const responses = answering.flatMap((message) =>
    message.role === 'tool'
      ? message.content.filter((part) => part.type === 'tool-approval-response')
      : [],
  );
  if (responses.length === 0) return [];
  const calls = new Map<string, ToolCall>();
  const callOf = new Map<string, string>();
  for (const { role, content } of messages) {
    if (role !== 'assistant' || typeof content === 'string') continue;
    for (const part of content) {
      if (part.type === 'tool-call') {
        const { toolCallId, toolName, input } = part;
        calls.set(toolCallId, { toolCallId, name: toolName, args: input });
      } else if (part.type === 'tool-approval-request') {
        callOf.set(part.approvalId, part.toolCallId);
      }
    }
  }
  return responses.flatMap(({ approvalId, approved, reason }) => {
    const call = calls.get(callOf.get(approvalId) ?? '');
    if (call === undefined) return [];
    return [{ approvalId, call, approved, ...(reason !== undefined && { reason }) }];
  });
}
