import { toLangchainTools } from '@ethosagent/adapter-langchain';
import type { ToolSession } from '@ethosagent/core';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { type ClientTool, tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent } from 'langchain';
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

export async function create(session: ToolSession): Promise<FrameworkRuns> {
  const own = tool(async (it) => add(it), { name, description, schema: input });
  const ours = await toLangchainTools(session);
  return { own: () => run([own]), ours: () => run(ours) };
}

async function run(tools: ClientTool[]): Promise<void> {
  const model = fakeModel();
  for (let step = 0; step < STEPS; step++) model.respondWithTools([{ name, args, id: newId() }]);
  model.respond(new AIMessage('Done.'));
  const agent = createAgent({ model, tools, checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: 'bench' }, recursionLimit: 4 * STEPS };
  const { messages } = await agent.invoke({ messages: [new HumanMessage('Add.')] }, config);
  assertDone(messages.at(-1)?.text);
}
