import { randomUUID } from 'node:crypto';
import type { ToolSession } from '@ethosagent/core';

/** What `wrapToolCall` of a middleware gets of a call: without a tool where the agent knows none. */
export interface WrappedToolCall {
  toolCall: { id?: string; name: string; args: unknown };
  tool: unknown;
}

/**
 * For `wrapToolCall` of a middleware, the last one of an agent of `createAgent`. LangChain answers
 * a call of an unknown tool by itself. This function records such calls in the session. All calls
 * go on as they would.
 *
 * @param session of the agent
 * @returns the function for `wrapToolCall`
 */
export function langchainRefusals(
  session: Pick<ToolSession, 'refuse'>,
): <Request extends WrappedToolCall, Answer>(
  request: Request,
  handler: (request: Request) => Answer | Promise<Answer>,
) => Promise<Answer> {
  return async (request, handler) => {
    const { toolCall, tool } = request;
    if (tool === undefined) {
      const { id: toolCallId = randomUUID(), name, args } = toolCall;
      await session.refuse(
        { toolCallId, name, args },
        { code: 'not_available', error: `the agent has no tool ${name}` },
      );
    }
    return handler(request);
  };
}
