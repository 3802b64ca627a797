import assert from 'node:assert/strict';
import { pendingFor, toOpenAiTools } from '@ethosagent/adapter-openai-agents';
import { createToolRuntime } from '@ethosagent/wiring';
import { Agent, Runner } from '@openai/agents';
import { createWorld, STORY } from '../../ledger/src/index.js';
import { scriptedModel } from './scripted-model.js';

const { options, decision, ledger, before, after, signal, close } = createWorld();
const runtime = await createToolRuntime(options);
const session = runtime.session('ledger');
const tools = await toOpenAiTools(session);
const agent = new Agent({ name: 'Clerk', model: scriptedModel(STORY), tools });
const runner = new Runner({ tracingDisabled: true });

const asked = await runner.run(agent, 'Enter the invoice.');
for (const interruption of asked.interruptions) {
  const approval = await pendingFor(session, interruption);
  console.log(approval?.toolName, approval?.args, approval?.reason);
  if (approval !== undefined) await session.decide(approval, decision);
  asked.state.approve(interruption);
}
assert.equal(ledger(), before);
const done = await runner.run(agent, asked.state);
console.log(done.finalOutput);
assert.equal(ledger(), after);

await assert.rejects(runner.run(agent, 'Wait.', { signal }), { name: 'AbortError' });
await close(runtime);
