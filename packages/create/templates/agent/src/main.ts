import { join } from 'node:path';
import { createAgent } from '@ethosagent/wiring/agent';
import { countWords } from './count-words.js';
import { model } from './model.js';

const project = join(import.meta.dirname, '..');
const agent = await createAgent({
  model,
  home: join(project, '.ethos'),
  cwd: project,
  personality: 'assistant',
  tools: [countWords, 'read_file', 'write_file', 'search_files'],
});
const prompt =
  process.argv[2] ?? 'How many words are in workspace/hello.txt, and how many in package.json?';
for await (const event of agent.loop.run({ sessionId: crypto.randomUUID(), prompt })) {
  if (event.type === 'text') process.stdout.write(event.text);
  if (event.type === 'tool_start') console.log('>', event.toolName, event.args);
  if (event.type === 'tool_end') {
    console.log(event.result.ok ? event.result.value : event.result.error);
  }
  if (event.type === 'done') console.log(`\n${event.end}`);
}
await agent.close();
