import { assertToolSession, type ToolSession } from '@ethosagent/core';
import { InvalidToolInputError, NoSuchToolError } from 'ai';

/**
 * The function that `repairToolCall` of `ai` 7 and `experimental_repairToolCall` of `ai` 6 take.
 */
export type AiRefusals = (failed: {
  toolCall: { toolCallId: string; toolName: string; input: string };
  error: unknown;
}) => Promise<null>;

/**
 * Makes a function for `repairToolCall` of `ai` 7, or `experimental_repairToolCall` of `ai` 6. `ai`
 * itself refuses a call of an unknown tool, or a call with arguments that are not JSON, before any
 * tool sees it. The function records such calls in the session. It repairs nothing and runs
 * nothing.
 *
 * @param session the session of the tools
 * @returns the function for `ai`
 * @throws `CONFIG_INVALID` for what is no session
 */
export function aiRefusals(session: Pick<ToolSession, 'definitions' | 'refuse'>): AiRefusals {
  assertToolSession('aiRefusals', session, ['definitions', 'refuse']);
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
