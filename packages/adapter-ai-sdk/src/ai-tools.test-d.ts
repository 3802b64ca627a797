import type { ToolSession } from '@ethosagent/core';
import type { LanguageModel, ModelMessage } from 'ai';
import { generateText, streamText, ToolLoopAgent, tool } from 'ai';
import { z } from 'zod';
import { aiToolApproval, aiTools, answerApprovals, fromAiTool, ToolCallError } from './index.js';

// What a user writes under `strict`, without a cast. It is compiled against `ai` 6 and `ai` 7.
export async function inARun(
  session: ToolSession,
  { model, messages }: { model: LanguageModel; messages: ModelMessage[] },
): Promise<string[]> {
  const tools = await aiTools(session, { by: 'ann' });
  const result = await generateText({ model, tools, messages });
  const answers = await answerApprovals(session, result.content, ({ toolName, args, reason }) => ({
    approved: toolName === 'write_file',
    args,
    reason,
  }));
  const next = streamText({
    model,
    tools,
    messages: [...messages, ...result.response.messages, answers],
  });
  const read: string[] = [];
  for await (const part of next.fullStream) {
    if (part.type === 'tool-result' && !part.dynamic) {
      const { text, images, structured, progress } = part.output;
      read.push(text, `${images.length}`, `${structured?.path}`, progress?.message ?? '');
    }
    if (part.type === 'tool-error' && part.error instanceof ToolCallError) {
      read.push(part.error.code, part.error.cause ?? '');
    }
  }
  const mine = tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a });
  const agent = new ToolLoopAgent({ model, tools: { ...tools, mine } });
  await agent.generate({ prompt: 'Go.' });
  const foreign = await fromAiTool('mine', mine, { approval: false });
  return [...read, foreign.name, ...Object.keys(aiToolApproval(session, tools))];
}
