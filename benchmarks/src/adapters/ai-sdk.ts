import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aiTools } from '@ethosagent/adapter-ai-sdk';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createToolRuntime } from '@ethosagent/wiring';
import { generateText, stepCountIs, type ToolSet, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
import { sideBySide } from '../side-by-side.js';

const STEPS = 100;
const input = z.object({ a: z.number(), b: z.number() });
const add = ({ a, b }: z.infer<typeof input>) => `${a + b}`;

/** What a call costs through the adapter, beside a tool of `ai` that nothing gates. */
export async function run(): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'bench-ai-sdk-')));
  mkdirSync(join(home, 'personalities', 'clerk'), { recursive: true });
  writeFileSync(join(home, 'personalities', 'clerk', 'config.yaml'), 'name: Clerk\n');
  const gated = defineTool({
    name: 'add',
    description: 'Adds.',
    input,
    capabilities: {},
    execute: async (args) => ok(add(args)),
  });
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools: [gated] });
  const own = {
    add: tool({ description: 'Adds.', inputSchema: input, execute: async (args) => add(args) }),
  };
  let calls = 0;
  const batch = () => [{ toolCallId: `c${calls++}`, name: 'add', args: { a: 1, b: 1 } }];
  try {
    const session = runtime.session('bench');
    const tools = await aiTools(session);
    await sideBySide(`AI SDK: one step of ${STEPS}, a tool call each`, [
      { name: 'ai, its own tool', operations: STEPS, run: () => generate(own) },
      { name: 'ai, aiTools', operations: STEPS, run: () => generate(tools) },
      { name: 'session.execute', operations: STEPS, run: many(() => session.execute(batch())) },
      { name: 'session.check', operations: STEPS, run: many(() => session.check(batch()[0]!)) },
      { name: 'runtime.execute', operations: STEPS, run: many(() => runtime.execute(batch())) },
    ]);
  } finally {
    await runtime.close();
    rmSync(home, { recursive: true });
  }
}

function many(work: () => Promise<unknown>): () => Promise<void> {
  return async () => {
    for (let count = 0; count < STEPS; count++) await work();
  };
}

let ids = 0;

async function generate(tools: ToolSet): Promise<void> {
  let step = 0;
  const model = new MockLanguageModelV3({
    async doGenerate() {
      const isOver = step++ === STEPS;
      const unified = isOver ? 'stop' : 'tool-calls';
      return {
        content: [
          isOver
            ? { type: 'text', text: 'Done.' }
            : {
                type: 'tool-call',
                toolCallId: `g${ids++}`,
                toolName: 'add',
                input: JSON.stringify({ a: step, b: 1 }),
              },
        ],
        finishReason: { unified, raw: unified },
        usage: {
          inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 5, text: 5, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
  const { text } = await generateText({
    model,
    tools,
    prompt: 'Add.',
    stopWhen: stepCountIs(STEPS + 1),
  });
  if (text !== 'Done.') throw new Error(`it ended with ${JSON.stringify(text)}`);
}
