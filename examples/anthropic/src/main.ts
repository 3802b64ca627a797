import assert from 'node:assert/strict';
import { pendingFor, toAnthropicTools } from '@ethosagent/adapter-anthropic';
import { createToolRuntime } from '@ethosagent/wiring';
import { createWorld, STORY } from '../../ledger/src/index.js';
import { scriptedClient } from './scripted-client.js';

const { options, decision, ledger, before, after, signal, close } = createWorld();
const runtime = await createToolRuntime(options);
const session = runtime.session('ledger');
const tools = await toAnthropicTools(session);
const messages = [{ role: 'user' as const, content: 'Enter the invoice.' }];
const request = { model: 'claude-opus-5', max_tokens: 1024, messages, tools };
const client = scriptedClient(STORY);

const runner = client.beta.messages.toolRunner(request);
for await (const message of runner) {
  for (const approval of await pendingFor(session, message)) {
    console.log(approval.toolName, approval.args, approval.reason);
    assert.equal(ledger(), before);
    await session.decide(approval, decision);
  }
}
console.log((await runner.done()).content);
assert.equal(ledger(), after);

const aborted = client.beta.messages.toolRunner(request, { signal });
await assert.rejects(aborted.runUntilDone(), { name: 'APIUserAbortError' });
await close(runtime);
