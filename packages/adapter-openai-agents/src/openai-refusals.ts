import { assertToolSession, type ToolSession } from '@ethosagent/core';
import type { RunConfig } from '@openai/agents';

/** Settings of a `Runner`, or of one run, about calls of unknown tools. */
export type OpenAiRefusals = Required<
  Pick<RunConfig, 'toolNotFoundBehavior' | 'toolErrorFormatter'>
>;

/**
 * Makes settings of a `Runner`, or of one run, for calls of unknown tools. Without them such a call
 * ends the run. With them the model reads that there is no such tool, the run continues, and the
 * session records the call. The record has no arguments, since the framework does not pass them on.
 *
 * @param session the session of the agent
 * @returns the settings; spread them into the settings of the runner
 * @throws `CONFIG_INVALID` for what is no session
 */
export function openAiRefusals(session: Pick<ToolSession, 'refuse'>): OpenAiRefusals {
  assertToolSession('openAiRefusals', session, ['refuse']);
  return {
    toolNotFoundBehavior: 'return_error_to_model',
    async toolErrorFormatter({ kind, toolType, toolName: name, callId: toolCallId }) {
      if (kind !== 'tool_not_found' || toolType !== 'function') return undefined;
      const { text } = await session.refuse(
        { toolCallId, name, args: null },
        { code: 'not_available', error: `the agent has no tool ${name}` },
      );
      return text;
    },
  };
}
