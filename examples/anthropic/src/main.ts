import assert from 'node:assert/strict';
import { pendingFor, toAnthropicTools } from '@ethosagent/adapter-anthropic';
import { createToolRuntime } from '@ethosagent/wiring';
import { client } from './scripted-client.js';
import { createWorld } from './world.js';

// A clerk in the tool runner of the Anthropic SDK reads an invoice that somebody sent. What it would
// write then waits for a person, who changes it. The next run is aborted.

const { options, ledger, abort, remove } = createWorld();
const runtime = await createToolRuntime(options);
const session = runtime.session('ledger');
const tools = await toAnthropicTools(session);
const messages = [{ role: 'user' as const, content: 'Enter the invoice.' }];
const request = { model: 'claude-opus-5', max_tokens: 1024, messages, tools };

const runner = client.beta.messages.toolRunner(request);
for await (const message of runner) {
  for (const approval of await pendingFor(session, message)) {
    console.log(`${approval.toolName} ${JSON.stringify(approval.args)}: ${approval.reason}`);
    const args = { path: 'ledger.txt', content: `${ledger()}invoice 7: 40\n` };
    await session.decide(approval, { approved: true, args, by: 'ann' });
  }
}
const [last] = (await runner.done()).content;
console.log(last?.type === 'text' ? `${last.text}\n${ledger()}` : last);
assert.equal(ledger(), 'invoice 6: 12\ninvoice 7: 40\n');

const aborted = client.beta.messages.toolRunner(request, { signal: abort.signal });
await assert.rejects(aborted.runUntilDone(), { name: 'APIUserAbortError' });
console.log('aborted');
await runtime.close();
remove();
