import Anthropic from '@anthropic-ai/sdk';
import type { ScriptedStep } from '@ethosagent/plugin-sdk/testing';

/** A client whose model says what a script says, instead of one that costs money. */
export function scriptedClient(script: readonly ScriptedStep[]): Anthropic {
  const replies = script.values();
  return new Anthropic({
    apiKey: 'none',
    fetch: async () => {
      const step = replies.next().value ?? 'I have nothing more to say.';
      const isText = typeof step === 'string';
      return Response.json({
        type: 'message',
        role: 'assistant',
        content: isText
          ? [{ type: 'text', text: step }]
          : step.map(([name, input, id]) => ({ type: 'tool_use', name, input, id })),
        stop_reason: isText ? 'end_turn' : 'tool_use',
        usage: { input_tokens: 100, output_tokens: 10 },
      });
    },
  });
}
