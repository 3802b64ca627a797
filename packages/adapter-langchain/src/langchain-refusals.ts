import { randomUUID } from 'node:crypto';
import { assertToolSession, type ToolSession } from '@ethosagent/core';

/** The request that `wrapToolCall` gets. `tool` is `undefined` if the agent has no such tool. */
export interface WrappedToolCall {
  toolCall: { id?: string; name: string; args: unknown };
  tool: unknown;
}

/**
 * Makes a function for `wrapToolCall` of a middleware. Use it in the last middleware of an agent of
 * `createAgent`. LangChain itself answers a call of an unknown tool. The function records such
 * calls in the session, and changes nothing about any call.
 *
 * @param session the session of the agent
 * @returns the function for `wrapToolCall`
 * @throws `CONFIG_INVALID` for what is no session
 */
export function langchainRefusals(
  session: Pick<ToolSession, 'refuse'>,
): <Request extends WrappedToolCall, Answer>(
  request: Request,
  handler: (request: Request) => Answer | Promise<Answer>,
) => Promise<Answer> {
  assertToolSession('langchainRefusals', session, ['refuse']);
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
