import assert from 'node:assert/strict';
import { aiTools, answerApprovals } from '@ethosagent/adapter-ai-sdk';
import { scriptedModel } from '@ethosagent/plugin-sdk/testing';
import { createToolRuntime } from '@ethosagent/wiring';
import { generateText, type ModelMessage, stepCountIs } from 'ai';
import { createWorld, STORY } from '../../ledger/src/index.js';

const { options, decision, ledger, before, after, signal, close } = createWorld();
const runtime = await createToolRuntime(options);
const session = runtime.session('ledger');
const tools = await aiTools(session);
const clerk = { model: scriptedModel(STORY), tools, stopWhen: stepCountIs(5) };

const messages: ModelMessage[] = [{ role: 'user', content: 'Enter the invoice.' }];
const paused = await generateText({ ...clerk, messages });
const answers = await answerApprovals(session, paused.content, ({ toolName, args, reason }) => {
  console.log(toolName, args, reason);
  return decision;
});
assert.equal(ledger(), before);

messages.push(...paused.response.messages, answers);
const { text } = await generateText({ ...clerk, messages });
console.log(text);
assert.equal(ledger(), after);

const aborted = generateText({ ...clerk, prompt: 'Wait.', abortSignal: signal });
await assert.rejects(aborted, { name: 'AbortError' });
await close(runtime);
