import type { ToolSession } from '@ethosagent/core';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { ToolMessage } from '@langchain/core/messages';
import { DynamicTool, tool } from '@langchain/core/tools';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt';
import { createAgent } from 'langchain';
import { z } from 'zod';
import { answerInterrupts, fromLangchainTool, isToolInterrupt, toLangchainTools } from './index.js';

// What a user writes under `strict`, without a cast.
export async function inARun(session: ToolSession, model: BaseChatModel): Promise<string[]> {
  const tools = await toLangchainTools(session, { by: 'ann', tools: ['read_file'] });
  const mine = tool(async ({ a }) => `${a}`, { name: 'mine', schema: z.object({ a: z.number() }) });
  const all = [...tools, mine];
  const agent = createAgent({ model, tools: all, checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: 't' } };
  const asked = await agent.invoke({ messages: [{ role: 'user', content: 'Go.' }] }, config);
  const resume = await answerInterrupts(asked, ({ toolName, reason }) => ({
    approved: toolName === 'write_file',
    reason,
  }));
  const done = await agent.invoke(new Command({ resume }), config);
  const read: string[] = [];
  for (const message of done.messages) {
    if (ToolMessage.isInstance(message)) read.push(message.text, message.status ?? '');
  }
  const state = await agent.graph.getState(config);
  for (const { interrupts } of state.tasks) {
    for (const { value } of interrupts) if (isToolInterrupt(value)) read.push(value.question);
  }
  new ToolNode(tools);
  createReactAgent({ llm: model, tools });
  model.bindTools?.(tools);
  const said = await tools[0]?.invoke({ path: 'a.txt' });
  const old = new DynamicTool({ name: 'old', description: 'Old.', func: async (text) => text });
  return [
    ...read,
    `${said}`,
    fromLangchainTool(mine).name,
    fromLangchainTool(old, { approval: false }).name,
  ];
}
