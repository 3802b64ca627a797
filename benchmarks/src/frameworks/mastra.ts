import { mastraTools } from '@ethosagent/adapter-mastra';
import type { ToolSession } from '@ethosagent/core';
import { Agent, type AgentConfig } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import {
  add,
  assertDone,
  description,
  type FrameworkRuns,
  input,
  model,
  name,
  STEPS,
} from './add.js';

export async function create(session: ToolSession): Promise<FrameworkRuns> {
  const id = name;
  const own = createTool({ id, description, inputSchema: input, execute: async (it) => add(it) });
  const ours = await mastraTools(session);
  return { own: () => run({ add: own }), ours: () => run(ours) };
}

async function run(tools: NonNullable<AgentConfig['tools']>): Promise<void> {
  const agent = new Agent({ id: 'a', name: 'A', instructions: 'Add.', model: model(), tools });
  assertDone((await agent.generate('Add.', { maxSteps: STEPS + 1 })).text);
}
