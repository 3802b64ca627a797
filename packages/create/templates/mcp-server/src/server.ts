import { join } from 'node:path';
import { serveStdio } from '@ethosagent/mcp-server';
import { createToolRuntime } from '@ethosagent/wiring';
import { countWords } from './count-words.js';

// An MCP client starts this program, and talks to it on standard input and output. Print nothing there.
const project = join(import.meta.dirname, '..');
const runtime = await createToolRuntime({
  home: join(project, '.ethos'),
  cwd: project,
  personality: 'assistant',
  tools: [countWords, 'read_file', 'write_file', 'search_files'],
});
const server = await serveStdio(runtime);
await server.closed;
await runtime.close();
