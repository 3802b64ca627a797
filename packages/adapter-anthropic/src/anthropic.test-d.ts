import type Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import type { ToolSession } from '@ethosagent/core';
import { z } from 'zod';
import {
  fromAnthropicTool,
  pendingFor,
  runToolUse,
  toAnthropicDefinitions,
  toAnthropicTools,
} from './index.js';

const model = 'claude-opus-5';
const weather = betaZodTool({
  name: 'weather',
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  run: async ({ city }) => `${city}: sun`,
});

// What a user writes under `strict`, without a cast.
export async function inTheToolRunner(session: ToolSession, client: Anthropic): Promise<string[]> {
  const tools = await toAnthropicTools(session, { onResult: ({ durationMs }) => durationMs });
  const messages = [{ role: 'user' as const, content: 'Go.' }];
  const runner = client.beta.messages.toolRunner({
    model,
    max_tokens: 1024,
    messages,
    tools: [...tools, weather],
  });
  for await (const message of runner) {
    for (const approval of await pendingFor(session, message)) {
      await session.decide(approval, { approved: false });
    }
  }
  const streamed = client.beta.messages.toolRunner(
    { model, max_tokens: 1024, messages, tools, stream: true },
    { signal: new AbortController().signal },
  );
  for await (const stream of streamed) await pendingFor(session, await stream.finalMessage());
  return (await runner.done()).content.map(({ type }) => type);
}

export async function inPlainMessages(session: ToolSession, client: Anthropic): Promise<void> {
  const tools = await toAnthropicDefinitions(session, { tools: ['read_file'] });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Go.' }];
  const message = await client.messages.create({ model, max_tokens: 1024, messages, tools });
  messages.push({ role: 'assistant', content: message.content });
  let run = await runToolUse(session, message, { signal: new AbortController().signal });
  while (run.status === 'waiting') {
    for (const approval of run.waiting) await session.decide(approval, { approved: true });
    // From the messages of the program, as after a restart.
    const last = messages.at(-1);
    if (last !== undefined) run = await runToolUse(session, last, { results: run.results });
  }
  if (run.status === 'complete') messages.push(run.reply);
}

export async function inBetaMessages(session: ToolSession, client: Anthropic): Promise<void> {
  const tools = await toAnthropicDefinitions(session);
  const messages: Anthropic.Beta.BetaMessageParam[] = [{ role: 'user', content: 'Go.' }];
  const message = await client.beta.messages.create({ model, max_tokens: 9, messages, tools });
  const run = await runToolUse(session, message);
  if (run.status === 'complete') messages.push(run.reply);
  const last = messages.at(-1);
  if (last !== undefined) await pendingFor(session, last);
  const given: Anthropic.Beta.BetaToolResultBlockParam[] = [];
  await runToolUse(session, message, { results: given });
}

export const written = (session: ToolSession) =>
  runToolUse(session, { content: [{ type: 'tool_use', id: 'a', name: 'read_file', input: {} }] });

export const foreign = [
  fromAnthropicTool(weather),
  fromAnthropicTool(
    betaTool({
      name: 'plain',
      inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
      description: 'Is plain.',
      run: ({ a }) => `${a}`,
    }),
    { approval: false },
  ),
];
