import assert from 'node:assert/strict';
import { answerInterrupts, toLangchainTools } from '@ethosagent/adapter-langchain';
import { createToolRuntime } from '@ethosagent/wiring';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { createWorld, STORY } from '../../ledger/src/index.js';
import { scriptedModel } from './scripted-model.js';

const { options, decision, ledger, before, after, signal, close } = createWorld();
const runtime = await createToolRuntime(options);
const tools = await toLangchainTools(runtime.session('ledger'));
const model = scriptedModel(STORY);
const agent = createAgent({ model, tools, checkpointer: new MemorySaver() });
const config = { configurable: { thread_id: 'ledger' } };
const say = (content: string) => ({ messages: [{ role: 'user' as const, content }] });

const asked = await agent.invoke(say('Enter the invoice.'), config);
const resume = await answerInterrupts(asked, ({ toolName, args, reason }) => {
  console.log(toolName, args, reason);
  return decision;
});
assert.equal(ledger(), before);
const done = await agent.invoke(new Command({ resume }), config);
console.log(done.messages.at(-1)?.text);
assert.equal(ledger(), after);

await assert.rejects(agent.invoke(say('Wait.'), { ...config, signal }));
await close(runtime);
