import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mastraTools } from '@ethosagent/adapter-mastra';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createToolRuntime } from '@ethosagent/wiring';
import { Agent, type AgentConfig } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
import { sideBySide } from '../side-by-side.js';

const CALLS = 20;
const OWN = 'createTool of Mastra, ungated';
const name = 'add';
const description = 'Adds.';
const input = z.object({ a: z.number(), b: z.number() });
const add = ({ a, b }: z.infer<typeof input>) => `${a + b}`;

/** What a call costs in an agent of Mastra: a tool of a session beside one that nothing gates. */
export async function run(): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'bench-mastra-')));
  mkdirSync(join(home, 'personalities', 'clerk'), { recursive: true });
  writeFileSync(join(home, 'personalities', 'clerk', 'config.yaml'), 'name: Clerk\n');
  const gated = defineTool({
    name,
    description,
    input,
    capabilities: {},
    execute: async (args) => ok(add(args)),
  });
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools: [gated] });
  const session = runtime.session('bench');
  const own = createTool({
    id: name,
    description,
    inputSchema: input,
    execute: async (args) => add(args),
  });
  let calls = 0;
  const direct = async () => {
    for (let count = 0; count < CALLS; count++) {
      await session.execute([{ toolCallId: `c${calls++}`, name, args: { a: 1, b: 1 } }]);
    }
  };
  const tools = await mastraTools(session);
  try {
    await sideBySide(`Mastra: one step of ${CALLS}, a tool call each`, [
      { name: OWN, operations: CALLS, run: () => generate({ add: own }) },
      { name: 'mastraTools', operations: CALLS, run: () => generate(tools) },
      { name: 'session.execute', operations: CALLS, run: direct },
    ]);
  } finally {
    await runtime.close();
    rmSync(home, { recursive: true });
  }
}

let ids = 0;

async function generate(tools: NonNullable<AgentConfig['tools']>): Promise<void> {
  let step = 0;
  const model = new MockLanguageModelV3({
    async doGenerate() {
      const isOver = step++ === CALLS;
      const unified = isOver ? 'stop' : 'tool-calls';
      const args = JSON.stringify({ a: step, b: 1 });
      return {
        content: [
          isOver
            ? { type: 'text', text: 'Done.' }
            : { type: 'tool-call', toolCallId: `g${ids++}`, toolName: name, input: args },
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
  const agent = new Agent({ id: 'a', name: 'A', instructions: 'Add.', model, tools });
  const { text } = await agent.generate('Add.', { maxSteps: CALLS + 1 });
  if (text !== 'Done.') throw new Error(`it ended with ${JSON.stringify(text)}`);
}
