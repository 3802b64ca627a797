import assert from 'node:assert/strict';
import { aiTools, answerApprovals } from '@ethosagent/adapter-ai-sdk';
import { createToolRuntime } from '@ethosagent/wiring';
import { generateText, type ModelMessage, stepCountIs } from 'ai';
import { model } from './scripted-model.js';
import { createWorld } from './world.js';

// A clerk of the AI SDK reads an invoice that somebody sent. What it would write then waits for a
// person, who changes it. The next run is aborted.

const { options, ledger, abort, remove } = createWorld();
const runtime = await createToolRuntime(options);
try {
  const session = runtime.session('ledger');
  const tools = await aiTools(session);
  const messages: ModelMessage[] = [{ role: 'user', content: 'Enter the invoice.' }];
  const stopWhen = stepCountIs(5);

  const paused = await generateText({ model, tools, messages, stopWhen });
  const answers = await answerApprovals(session, paused.content, ({ toolName, args, reason }) => {
    process.stdout.write(`${toolName} ${JSON.stringify(args)}: ${reason}\n`);
    const content = 'invoice 6: 12\ninvoice 7: 40\n';
    return { approved: true, by: 'ann', args: { path: 'ledger.txt', content } };
  });
  assert.equal(ledger(), 'invoice 6: 12\n');

  messages.push(...paused.response.messages, answers);
  const { text } = await generateText({ model, tools, messages, stopWhen });
  process.stdout.write(`${text}\n`);
  assert.equal(ledger(), 'invoice 6: 12\ninvoice 7: 40\n');

  const waiting = { model, tools, prompt: 'Wait.', stopWhen, abortSignal: abort.signal };
  await assert.rejects(generateText(waiting), { name: 'AbortError' });
} finally {
  await runtime.close();
  remove();
}
