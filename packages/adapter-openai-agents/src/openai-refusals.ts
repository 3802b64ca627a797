import type { ToolSession } from '@ethosagent/core';
import type { RunConfig } from '@openai/agents';

/** Settings of a `Runner`, or of one run. */
export type OpenAiRefusals = Required<
  Pick<RunConfig, 'toolNotFoundBehavior' | 'toolErrorFormatter'>
>;

/**
 * Settings of a `Runner`, or of one run. The framework answers a call of a tool that an agent does not
 * have by itself; with these settings the model is told, the run goes on, and the session writes the
 * call down. The framework does not say what its arguments were.
 */
export function openAiRefusals(session: Pick<ToolSession, 'refuse'>): OpenAiRefusals {
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
