import { aiTools } from '@ethosagent/adapter-ai-sdk';
import type { ToolSession } from '@ethosagent/core';
import { generateText, stepCountIs, type ToolSet, tool } from 'ai';
import { add, assertDone, description, type FrameworkRuns, input, model, STEPS } from './add.js';

export async function create(session: ToolSession): Promise<FrameworkRuns> {
  const own = { add: tool({ description, inputSchema: input, execute: async (it) => add(it) }) };
  const ours = await aiTools(session);
  const run = async (tools: ToolSet) => {
    const stopWhen = stepCountIs(STEPS + 1);
    assertDone((await generateText({ model: model(), tools, prompt: 'Add.', stopWhen })).text);
  };
  return { own: () => run(own), ours: () => run(ours) };
}
