import { serveStdio } from '@ethosagent/mcp-server';
import { createToolRuntime } from '@ethosagent/wiring';

// The whole server. A client starts it: `node server.mjs <home> <working directory>`.
const [, , home, cwd] = process.argv;
const tools = ['read_file', 'write_file'];
const runtime = await createToolRuntime({ home, cwd, personality: 'clerk', tools });
const server = await serveStdio(runtime);
await server.closed;
await runtime.close();
