import type { ToolSession } from '@ethosagent/core';
import { Agent, type AgentConfig } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { createStep } from '@mastra/core/workflows';
import { z } from 'zod';
import { answerApproval, fromMastraTool, mastraTools, ToolOutput } from './index.js';

// What a user writes under `strict`, without a cast.
export async function inAnAgent(
  session: ToolSession,
  model: AgentConfig['model'],
): Promise<string[]> {
  const tools = await mastraTools(session, { tools: ['read_file'], resultBudgetChars: 1000 });
  const mine = createTool({
    id: 'mine',
    description: 'Adds.',
    inputSchema: z.object({ a: z.number() }),
    execute: async ({ a }) => a,
  });
  const base = { name: 'Clerk', instructions: 'Go.', model };
  const agent = new Agent({ id: 'a', ...base, tools: { ...tools, mine } });
  // Looked up again for each run.
  const fresh = new Agent({ id: 'b', ...base, tools: () => mastraTools(session) });
  let output = await agent.generate('Go.');
  while (output.finishReason === 'suspended' && output.runId !== undefined) {
    const answer = await answerApproval(session, output.suspendPayload, ({ toolName, args }) => ({
      approved: toolName === 'write_file',
      args,
      by: 'ann',
    }));
    output = await agent.resumeGenerate(answer, { runId: output.runId });
  }
  const stream = await fresh.stream('Go.');
  for await (const chunk of stream.fullStream) {
    if (chunk.type !== 'tool-call-suspended') continue;
    const answer = await answerApproval(session, chunk.payload, () => ({ approved: false }));
    await fresh.resumeStream(answer, { runId: stream.runId });
  }
  const read: string[] = [];
  for (const { payload } of output.toolResults) {
    const { result } = payload;
    if (result instanceof ToolOutput) read.push(result.text, `${result.structured?.path}`);
  }
  const foreign = fromMastraTool(mine, { approval: false });
  const step = tools.read_file && createStep(tools.read_file);
  return [...read, foreign.name, step?.id ?? ''];
}
