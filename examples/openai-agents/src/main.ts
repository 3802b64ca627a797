import assert from 'node:assert/strict';
import { pendingFor, toOpenAiTools } from '@ethosagent/adapter-openai-agents';
import { createToolRuntime } from '@ethosagent/wiring';
import { Agent, Runner } from '@openai/agents';
import { createWorld, model } from './script.js';

// An agent of the OpenAI Agents SDK reads an invoice that somebody sent, and then wants to do what
// it says. A person approves other arguments than the model gave. The last run is aborted.

const { home, cwd, ledger, remove } = createWorld();
const tools = ['read_file', 'write_file'];
const runtime = await createToolRuntime({ home, cwd, personality: 'clerk', tools });
const session = runtime.session('ledger');
const agent = new Agent({ name: 'Clerk', model, tools: await toOpenAiTools(session) });
const runner = new Runner({ tracingDisabled: true });

const asked = await runner.run(agent, 'Enter the invoice.');
assert.equal(asked.interruptions.length, 1);
for (const interruption of asked.interruptions) {
  const approval = await pendingFor(session, interruption);
  assert.ok(approval);
  console.log(`${approval.toolName} ${interruption.arguments}: ${approval.reason}`);
  const args = { path: 'ledger.txt', content: `${ledger()}invoice 7: 40\n` };
  await session.decide(approval, { approved: true, args, by: 'ann' });
  asked.state.approve(interruption);
}
const done = await runner.run(agent, asked.state);
console.log(`${done.finalOutput}\n${ledger()}`);
assert.equal(ledger(), 'invoice 6: 12\ninvoice 7: 40\n');

const controller = new AbortController();
agent.on('agent_tool_start', () => controller.abort());
await assert.rejects(runner.run(agent, 'Read it once more.', { signal: controller.signal }));
console.log('aborted');
await runtime.close();
remove();
