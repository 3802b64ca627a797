import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentLoop, registryTools } from '@ethosagent/agent-loop';
import { createInMemorySessionStore, DefaultToolRegistry } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createSqliteSessionStore } from '@ethosagent/storage-sqlite';
import type { SessionStore } from '@ethosagent/types';
import {
  Agent,
  type AgentOutputItem,
  tool as agentsTool,
  type Model,
  Runner,
  setTracingDisabled,
  Usage,
} from '@openai/agents-core';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
import { sideBySide } from './side-by-side.js';

const STEPS = 100;
const PROMPT = 'Add them all.';
const LOOP = 'AgentLoop, history in memory';
const input = z.object({ a: z.number(), b: z.number() });
const add = ({ a, b }: z.infer<typeof input>) => `${a + b}`;

/** What a step costs beside the model: a call of one tool and its result, a hundred times. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-agent-'));
  const store = createSqliteSessionStore({ path: join(folder, 'sessions.db') });
  try {
    await sideBySide(`Agent: one step of ${STEPS}, a tool call each`, [
      { name: 'ai, generateText', operations: STEPS, run: generates },
      { name: 'ai, streamText', operations: STEPS, run: streams },
      { name: 'OpenAI Agents, Runner.run', operations: STEPS, run: openAiAgents() },
      {
        name: LOOP,
        operations: STEPS,
        run: loops(() => createInMemorySessionStore()),
        goal: { atMost: 1.3, of: 'ai, streamText' },
      },
      {
        name: 'AgentLoop, every step durable in SQLite',
        operations: STEPS,
        run: loops(() => store),
        goal: { atMost: 2, of: 'ai, streamText' },
      },
    ]);
  } finally {
    store.close();
    rmSync(folder, { recursive: true });
  }
  console.log('  Not run: Mastra, which needs Node 22.');
}

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

/** Calls the tool again and again, each time with other numbers, and says that it is done. */
function scripted(): MockLanguageModelV3 {
  let step = 0;
  const next = () => {
    const at = step++;
    if (at < STEPS) {
      const args = JSON.stringify({ a: at, b: 1 });
      const call = {
        type: 'tool-call',
        toolCallId: `c${at}`,
        toolName: 'add',
        input: args,
      } as const;
      return { call, finishReason: { unified: 'tool-calls', raw: 'tool_calls' } as const };
    }
    return { call: undefined, finishReason: { unified: 'stop', raw: 'stop' } as const };
  };
  return new MockLanguageModelV3({
    async doGenerate() {
      const { call, finishReason } = next();
      return {
        content: [call ?? { type: 'text', text: 'Done.' }],
        finishReason,
        usage,
        warnings: [],
      };
    },
    async doStream() {
      const { call, finishReason } = next();
      return {
        stream: convertArrayToReadableStream([
          { type: 'stream-start' as const, warnings: [] },
          ...(call === undefined
            ? [
                { type: 'text-start' as const, id: 't' },
                { type: 'text-delta' as const, id: 't', delta: 'Done.' },
                { type: 'text-end' as const, id: 't' },
              ]
            : [call]),
          { type: 'finish' as const, finishReason, usage },
        ]),
      };
    },
  });
}

const aiTools = () => ({
  add: tool({ description: 'Adds.', inputSchema: input, execute: async (args) => add(args) }),
});
const stopWhen = stepCountIs(STEPS + 1);

async function generates(): Promise<void> {
  const { text } = await generateText({
    model: scripted(),
    tools: aiTools(),
    prompt: PROMPT,
    stopWhen,
  });
  assertDone(text);
}

async function streams(): Promise<void> {
  const result = streamText({ model: scripted(), tools: aiTools(), prompt: PROMPT, stopWhen });
  for await (const _ of result.fullStream);
  assertDone(await result.text);
}

function loops(storeOf: () => SessionStore): () => Promise<void> {
  const registry = new DefaultToolRegistry();
  registry.register(
    defineTool({
      name: 'add',
      description: 'Adds.',
      input,
      capabilities: {},
      execute: async (args) => ok(add(args)),
    }),
  );
  const tools = registryTools(registry, { id: 'bench', name: 'Bench' }, { workingDir: '/' });
  let session = 0;
  return async () => {
    const loop = new AgentLoop({
      model: scripted(),
      tools,
      sessions: storeOf(),
      limits: { maxSteps: STEPS + 1 },
    });
    let text = '';
    for await (const event of loop.run({ sessionId: `s${session++}`, prompt: PROMPT })) {
      if (event.type === 'done') text = event.text;
    }
    assertDone(text);
  };
}

function openAiAgents(): () => Promise<void> {
  setTracingDisabled(true);
  return async () => {
    let step = 0;
    const model: Model = {
      async getResponse() {
        const at = step++;
        const output: AgentOutputItem =
          at < STEPS
            ? {
                type: 'function_call',
                callId: `c${at}`,
                name: 'add',
                status: 'completed',
                arguments: JSON.stringify({ a: at, b: 1 }),
              }
            : {
                type: 'message',
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text: 'Done.' }],
              };
        return { usage: new Usage(), output: [output] };
      },
      getStreamedResponse() {
        throw new Error('not streamed here');
      },
    };
    const agent = new Agent({
      name: 'Bench',
      model,
      tools: [
        agentsTool({
          name: 'add',
          description: 'Adds.',
          parameters: input,
          execute: async (args) => add(args),
        }),
      ],
    });
    const { finalOutput } = await new Runner().run(agent, PROMPT, { maxTurns: STEPS + 1 });
    assertDone(finalOutput ?? '');
  };
}

function assertDone(text: string): void {
  if (text !== 'Done.') throw new Error(`it ended with ${JSON.stringify(text)}`);
}
