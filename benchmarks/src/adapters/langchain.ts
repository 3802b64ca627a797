import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toLangchainTools } from '@ethosagent/adapter-langchain';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createToolRuntime } from '@ethosagent/wiring';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { type ClientTool, tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { z } from 'zod';
import { sideBySide } from '../side-by-side.js';

const STEPS = 20;
const input = z.object({ a: z.number(), b: z.number() });
const add = ({ a, b }: z.infer<typeof input>) => `${a + b}`;
const fields = { name: 'add', description: 'Adds.' };

/** What a call costs through the adapter, beside a tool of LangChain that nothing gates. */
export async function run(): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'bench-langchain-')));
  mkdirSync(join(home, 'personalities', 'clerk'), { recursive: true });
  writeFileSync(join(home, 'personalities', 'clerk', 'config.yaml'), 'name: Clerk\n');
  const gated = defineTool({
    ...fields,
    input,
    capabilities: {},
    execute: async (args) => ok(add(args)),
  });
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools: [gated] });
  const own = tool(async (args) => add(args), { ...fields, schema: input });
  const args = { a: 1, b: 1 };
  const call = () => ({ type: 'tool_call' as const, id: `c${ids++}`, name: 'add', args });
  try {
    const session = runtime.session('bench');
    const [ours] = await toLangchainTools(session);
    if (ours === undefined) throw new Error('the personality has no tool');
    await sideBySide(`LangChain: one run of createAgent, ${STEPS} steps of one tool call`, [
      { name: 'createAgent, its own tool', operations: STEPS, run: () => runAgent(own) },
      { name: 'createAgent, toLangchainTools', operations: STEPS, run: () => runAgent(ours) },
    ]);
    await sideBySide('LangChain: one tool call, outside a graph', [
      { name: 'its own tool', operations: STEPS, run: many(() => own.invoke(call())) },
      { name: 'toLangchainTools', operations: STEPS, run: many(() => ours.invoke(call())) },
      {
        name: 'session.execute',
        operations: STEPS,
        run: many(() => session.execute([{ toolCallId: `c${ids++}`, name: 'add', args }])),
      },
    ]);
  } finally {
    await runtime.close();
    rmSync(home, { recursive: true });
  }
}

let ids = 0;

function many(work: () => Promise<unknown>): () => Promise<void> {
  return async () => {
    for (let count = 0; count < STEPS; count++) await work();
  };
}

async function runAgent(each: ClientTool): Promise<void> {
  const model = fakeModel();
  for (let step = 0; step < STEPS; step++) {
    model.respondWithTools([{ name: 'add', args: { a: step, b: 1 }, id: `g${ids++}` }]);
  }
  model.respond(new AIMessage('Done.'));
  const agent = createAgent({ model, tools: [each], checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: 'bench' }, recursionLimit: 4 * STEPS };
  const { messages } = await agent.invoke({ messages: [new HumanMessage('Add.')] }, config);
  const end = messages.at(-1)?.text;
  if (end !== 'Done.') throw new Error(`it ended with ${JSON.stringify(end)}`);
}
