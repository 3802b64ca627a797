import assert from 'node:assert/strict';
import { answerApproval, mastraTools } from '@ethosagent/adapter-mastra';
import { createToolRuntime } from '@ethosagent/wiring';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { model } from './scripted-model.js';
import { createWorld } from './world.js';

// An agent of Mastra reads an invoice that somebody sent. What it would write then waits for a
// person, who changes it. The next run is aborted.

const { options, ledger, abort, remove } = createWorld();
const runtime = await createToolRuntime(options);
const session = runtime.session('ledger');
const tools = await mastraTools(session);
const clerk = new Agent({ id: 'clerk', name: 'Clerk', instructions: 'Keep it.', model, tools });
// It keeps what a run needs to go on.
new Mastra({ agents: { clerk }, storage: new InMemoryStore(), logger: false });

const { runId = '', suspendPayload } = await clerk.generate('Enter the invoice.');
const answer = await answerApproval(session, suspendPayload, ({ toolName, args, reason }) => {
  process.stdout.write(`${toolName} ${JSON.stringify(args)}: ${reason}\n`);
  const content = 'invoice 6: 12\ninvoice 7: 40\n';
  return { approved: true, by: 'ann', args: { path: 'ledger.txt', content } };
});
assert.equal(ledger(), 'invoice 6: 12\n');

const { text } = await clerk.resumeGenerate(answer, { runId });
process.stdout.write(`${text}\n`);
assert.equal(ledger(), 'invoice 6: 12\ninvoice 7: 40\n');

const aborted = await clerk.generate('Wait.', { abortSignal: abort.signal });
assert.deepEqual([abort.signal.aborted, aborted.text], [true, '']);
await runtime.close();
remove();
