import assert from 'node:assert/strict';
import { answerApproval, mastraTools } from '@ethosagent/adapter-mastra';
import { scriptedModel } from '@ethosagent/plugin-sdk/testing';
import { createToolRuntime } from '@ethosagent/wiring';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createWorld, STORY } from '../../ledger/src/index.js';

const { options, decision, ledger, before, after, signal, close } = createWorld();
const runtime = await createToolRuntime(options);
const session = runtime.session('ledger');
const tools = await mastraTools(session);
const model = scriptedModel(STORY);
const clerk = new Agent({ id: 'clerk', name: 'Clerk', instructions: 'Keep it.', model, tools });
// It keeps what a run needs to go on.
new Mastra({ agents: { clerk }, storage: new InMemoryStore(), logger: false });

const { runId = '', suspendPayload } = await clerk.generate('Enter the invoice.');
const answer = await answerApproval(session, suspendPayload, ({ toolName, args, reason }) => {
  console.log(toolName, args, reason);
  return decision;
});
assert.equal(ledger(), before);
console.log((await clerk.resumeGenerate(answer, { runId })).text);
assert.equal(ledger(), after);

assert.equal((await clerk.generate('Wait.', { abortSignal: signal })).text, '');
await close(runtime);
