import assert from 'node:assert/strict';
import { answerInterrupts, toLangchainTools } from '@ethosagent/adapter-langchain';
import { createToolRuntime } from '@ethosagent/wiring';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { abort, createWorld, model } from './script.js';

// An agent of LangChain reads an invoice that somebody sent. What it would write then waits for a
// person, who changes it. The next run is aborted.

const { options, ledger, remove } = createWorld();
const runtime = await createToolRuntime(options);
const tools = await toLangchainTools(runtime.session('ledger'));
const agent = createAgent({ model, tools, checkpointer: new MemorySaver() });
const config = { configurable: { thread_id: 'ledger' } };
const say = (content: string) => ({ messages: [{ role: 'user' as const, content }] });

const asked = await agent.invoke(say('Enter the invoice.'), config);
const resume = await answerInterrupts(asked, ({ toolName, args, reason }) => {
  console.log(`${toolName} ${JSON.stringify(args)}: ${reason}`);
  const content = `${ledger()}invoice 7: 40\n`;
  return { approved: true, by: 'ann', args: { path: 'ledger.txt', content } };
});
assert.equal(ledger(), 'invoice 6: 12\n');
const done = await agent.invoke(new Command({ resume }), config);
console.log(`${done.messages.at(-1)?.text}\n${ledger()}`);
assert.equal(ledger(), 'invoice 6: 12\ninvoice 7: 40\n');

await assert.rejects(agent.invoke(say('Wait.'), { ...config, signal: abort.signal }));
console.log('aborted');
await runtime.close();
remove();
