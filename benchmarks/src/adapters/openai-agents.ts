import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toOpenAiTools } from '@ethosagent/adapter-openai-agents';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createToolRuntime } from '@ethosagent/wiring';
import {
  type FunctionTool,
  invokeFunctionTool,
  RunContext,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import { z } from 'zod';
import { sideBySide } from '../side-by-side.js';

const CALLS = 20;
const UNGATED = 'tool() of the framework, ungated';
const input = z.object({ city: z.string(), days: z.number() });
const answer = ({ city, days }: z.infer<typeof input>) => `${city}: ${days}`;

/** The cost of a call of the framework: a tool of a session beside its own. */
export async function run(): Promise<void> {
  setTracingDisabled(true);
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'bench-openai-')));
  mkdirSync(join(home, 'personalities', 'p'), { recursive: true });
  writeFileSync(join(home, 'personalities', 'p', 'config.yaml'), 'name: P\n');
  const name = 'weather';
  const description = 'Answers.';
  const gated = defineTool({
    name,
    description,
    input,
    capabilities: {},
    execute: async (args) => ok(answer(args)),
  });
  const runtime = await createToolRuntime({ home, personality: 'p', tools: [gated] });
  const session = runtime.session('s');
  const [ours] = await toOpenAiTools(session);
  if (ours === undefined) throw new Error('the personality has no tool');
  const theirs = tool({
    name,
    description,
    parameters: input,
    needsApproval: async () => false,
    execute: async (args) => answer(args),
  });
  const args = { city: 'London', days: 3 };
  const text = JSON.stringify(args);
  let count = 0;
  // biome-ignore lint/suspicious/noExplicitAny: tools of different parameters and results
  const call = async (each: FunctionTool<any, any, any>) => {
    const runContext = new RunContext();
    const callId = `c${count++}`;
    await each.needsApproval(runContext, args, callId);
    const toolCall = { type: 'function_call', callId, name, arguments: text } as const;
    return invokeFunctionTool({ tool: each, runContext, input: text, details: { toolCall } });
  };
  const inTurn = (one: () => Promise<unknown>) => async () => {
    for (let i = 0; i < CALLS; i++) await one();
  };
  await sideBySide('OpenAI Agents SDK: one call, asked about and run', [
    { name: UNGATED, operations: CALLS, run: inTurn(() => call(theirs)) },
    {
      name: 'session.check and session.execute',
      operations: CALLS,
      run: inTurn(async () => {
        const each = { toolCallId: `c${count++}`, name, args };
        await session.check(each);
        return session.execute([each]);
      }),
    },
    { name: 'a tool of toOpenAiTools', operations: CALLS, run: inTurn(() => call(ours)) },
  ]);
  await runtime.close();
  rmSync(home, { recursive: true, force: true });
}
