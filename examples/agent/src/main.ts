import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createAgent } from '@ethosagent/wiring/agent';
import { codingModel } from './coding-model.js';
import { createProject } from './project.js';

// An agent that repairs a project: it searches, reads, runs the tests, edits, has a sub-agent look
// at the change, and remembers what was wrong. A scripted model plays it; with OPENAI_API_KEY set,
// a real one does.

const project = createProject();
const apiKey = process.env.OPENAI_API_KEY;
const baseURL = 'https://api.openai.com/v1';
const model = apiKey
  ? createOpenAICompatible({ name: 'openai', baseURL, apiKey })('gpt-5-mini')
  : codingModel();

const agent = await createAgent({
  model,
  home: project.home,
  cwd: project.cwd,
  personality: 'coder',
  tools: ['search_files', 'read_file', 'patch_file', 'run_tests', 'task', 'memory_write'],
  limits: { maxSteps: 20, maxTokens: 200_000 },
  // The loop asks after the agent has read the output of programs. A person would decide here; this function
  // allows three tools.
  approve: ({ toolName, reason }) => {
    process.stdout.write(`? ${toolName}: ${reason}\n`);
    return ['patch_file', 'run_tests', 'memory_write'].includes(toolName);
  },
});
const prompt =
  'A test of this project fails. Fix the code, run the tests again, have the reviewer look at the change, and remember what was wrong.';
const outcomes: string[] = [];
for await (const event of agent.loop.run({ sessionId: 'repair', prompt })) {
  if (event.type === 'tool_start') {
    process.stdout.write(`> ${event.toolName} ${JSON.stringify(event.args)}\n`);
  } else if (event.type === 'tool_end') {
    const { toolName, result } = event;
    outcomes.push(`${toolName} ${result.ok}`);
    process.stdout.write(`  ${(result.ok ? result.value : result.error).slice(0, 200)}\n`);
  } else if (event.type === 'text') {
    process.stdout.write(event.text);
  } else if (event.type === 'done') {
    const { end, steps, calls, usage } = event;
    process.stdout.write(
      `\n${end}: ${steps} steps, ${calls} calls, ${usage.inputTokens} tokens in\n`,
    );
    assert.equal(end, 'answered');
  }
}
await agent.close();

assert.match(project.source(), /sum \+ price/);
assert.match(project.memory(), /total/);
for (const done of ['task true', 'memory_write true']) assert(outcomes.includes(done), done);
project.remove();
