import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { toAnthropicTools } from '@ethosagent/adapter-anthropic';
import type { ToolSession } from '@ethosagent/core';
import { add, assertDone, description, type FrameworkRuns, input, name, script } from './add.js';

type Tools = Anthropic.Beta.Messages.BetaToolRunnerParams['tools'];

export async function create(session: ToolSession): Promise<FrameworkRuns> {
  const own = betaZodTool({ name, description, inputSchema: input, run: async (it) => add(it) });
  const ours = await toAnthropicTools(session);
  return { own: () => run([own]), ours: () => run(ours) };
}

async function run(tools: Tools): Promise<void> {
  const steps = script().values();
  const client = new Anthropic({
    apiKey: 'none',
    fetch: async () => {
      const step = steps.next().value ?? '';
      return Response.json({
        type: 'message',
        role: 'assistant',
        content:
          typeof step === 'string'
            ? [{ type: 'text', text: step }]
            : step.map(([tool, given, id]) => ({ type: 'tool_use', id, name: tool, input: given })),
        stop_reason: typeof step === 'string' ? 'end_turn' : 'tool_use',
        usage: { input_tokens: 100, output_tokens: 10 },
      });
    },
  });
  const messages = [{ role: 'user' as const, content: 'Add.' }];
  const request = { model: 'scripted', max_tokens: 1000, messages, tools };
  const [last] = (await client.beta.messages.toolRunner(request)).content;
  assertDone(last?.type === 'text' && last.text);
}
