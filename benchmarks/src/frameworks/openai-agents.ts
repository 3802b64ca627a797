import { toOpenAiTools } from '@ethosagent/adapter-openai-agents';
import type { ToolSession } from '@ethosagent/core';
import { Agent, Runner, type Tool, tool } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import {
  add,
  args,
  assertDone,
  description,
  type FrameworkRuns,
  input,
  name,
  newId,
  STEPS,
} from './add.js';

const runner = new Runner({ tracingDisabled: true });

export async function create(session: ToolSession): Promise<FrameworkRuns> {
  const own = tool({ name, description, parameters: input, execute: async (it) => add(it) });
  const ours = await toOpenAiTools(session);
  return { own: () => run([own]), ours: () => run(ours) };
}

async function run(tools: Tool[]): Promise<void> {
  const calls = Array.from({ length: STEPS }, () => [
    functionCall(name, args, { callId: newId() }),
  ]);
  const model = new ScriptedModel([...calls, [assistantMessage('Done.')]]);
  const agent = new Agent({ name: 'A', model, tools });
  assertDone((await runner.run(agent, 'Add.', { maxTurns: STEPS + 1 })).finalOutput);
}
