import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { runToolUse, toAnthropicTools } from '@ethosagent/adapter-anthropic';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createToolRuntime } from '@ethosagent/wiring';
import { z } from 'zod';
import { sideBySide } from '../side-by-side.js';

const STEPS = 50;
const inputSchema = z.object({ a: z.number(), b: z.number() });
const add = ({ a, b }: z.infer<typeof inputSchema>) => `${a + b}`;
const name = 'add';
const description = 'Adds.';

type Tools = Anthropic.Beta.Messages.BetaToolRunnerParams['tools'];

/** What a call costs in the tool runner of the SDK, beside a tool that nothing gates. */
export async function run(): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'bench-anthropic-')));
  mkdirSync(join(home, 'personalities', 'clerk'), { recursive: true });
  writeFileSync(join(home, 'personalities', 'clerk', 'config.yaml'), 'name: Clerk\n');
  const gated = defineTool({
    name,
    description,
    input: inputSchema,
    capabilities: {},
    execute: async (args) => ok(add(args)),
  });
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools: [gated] });
  const own = betaZodTool({ name, description, inputSchema, run: async (args) => add(args) });
  try {
    const session = runtime.session('bench');
    const tools = await toAnthropicTools(session);
    const many = (one: () => Promise<unknown>) => async () => {
      for (let count = 0; count < STEPS; count++) await one();
    };
    await sideBySide(`Anthropic SDK: a run of ${STEPS} tool calls, one a reply`, [
      { name: 'tool runner, betaZodTool, ungated', operations: STEPS, run: () => loop([own]) },
      { name: 'tool runner, toAnthropicTools', operations: STEPS, run: () => loop(tools) },
      {
        name: 'runToolUse',
        operations: STEPS,
        run: many(() => runToolUse(session, { content: [call()] })),
      },
      {
        name: 'session.execute',
        operations: STEPS,
        run: many(() => {
          const { id, input } = call();
          return session.execute([{ toolCallId: id, name, args: input }]);
        }),
      },
    ]);
  } finally {
    await runtime.close();
    rmSync(home, { recursive: true });
  }
}

let ids = 0;
const call = () => ({ type: 'tool_use', id: `toolu_${ids++}`, name, input: { a: 1, b: 1 } });

async function loop(tools: Tools): Promise<void> {
  let step = 0;
  const client = new Anthropic({
    apiKey: 'none',
    fetch: async () => {
      const isOver = step++ === STEPS;
      return Response.json({
        id: `msg_${ids++}`,
        type: 'message',
        role: 'assistant',
        content: [isOver ? { type: 'text', text: 'Done.' } : call()],
        stop_reason: isOver ? 'end_turn' : 'tool_use',
        usage: { input_tokens: 100, output_tokens: 10 },
      });
    },
  });
  await client.beta.messages.toolRunner({
    model: 'scripted',
    max_tokens: 1000,
    messages: [{ role: 'user', content: 'Go.' }],
    tools,
  });
}
