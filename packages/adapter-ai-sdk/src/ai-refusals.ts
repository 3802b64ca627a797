import type { ToolSession } from '@ethosagent/core';
import { InvalidToolInputError, NoSuchToolError } from 'ai';

/** What `repairToolCall` of `ai` 7 and `experimental_repairToolCall` of `ai` 6 take. */
export type AiRefusals = (failed: {
  toolCall: { toolCallId: string; toolName: string; input: string };
  error: unknown;
}) => Promise<null>;

/**
 * For `repairToolCall` of `ai` 7, and `experimental_repairToolCall` of `ai` 6. `ai` refuses a call
 * of an unknown tool, and one whose arguments are no JSON, before any tool sees it. This function
 * records such calls in the session. It repairs nothing and runs nothing.
 *
 * @param session that the tools are of
 * @returns the function for `ai`
 */
export function aiRefusals(session: Pick<ToolSession, 'definitions' | 'refuse'>): AiRefusals {
  return async ({ toolCall: { toolCallId, toolName: name, input }, error }) => {
    if (NoSuchToolError.isInstance(error)) {
      await session.refuse(
        { toolCallId, name, args: parsed(input) },
        { code: 'not_available', error: `the agent has no tool ${name}` },
      );
    } else if (InvalidToolInputError.isInstance(error)) {
      // Only calls of the session's own tools are recorded there.
      const definitions = await session.definitions();
      if (definitions.some((definition) => definition.name === name)) {
        await session.refuse(
          { toolCallId, name, args: input },
          { code: 'input_invalid', error: 'the arguments are no JSON' },
        );
      }
    }
    return null;
  };
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}
