import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttp } from '@ethosagent/mcp-server';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createToolRuntime } from '@ethosagent/wiring';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { sideBySide } from '../side-by-side.js';

const CALLS = 20;
const name = 'weather';
const description = 'Answers.';
const input = z.object({ city: z.string(), days: z.number() });
const args = { city: 'London', days: 3 };
const answer = ({ city, days }: z.infer<typeof input>) => `${city}: ${days}`;

/** The cost of a call over HTTP on loopback: a tool of a session beside one of the SDK's own server. */
export async function run(): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'bench-mcp-')));
  mkdirSync(join(home, 'personalities', 'p'), { recursive: true });
  writeFileSync(join(home, 'personalities', 'p', 'config.yaml'), 'name: P\n');
  const gated = defineTool({
    name,
    description,
    input,
    capabilities: {},
    execute: async (given) => ok(answer(given)),
  });
  const runtime = await createToolRuntime({ home, personality: 'p', tools: [gated] });
  const token = 'a'.repeat(32);
  const served = await serveHttp(runtime, { clients: { me: { token } } });
  const own = await serveUngated();
  const ours = await connect(served.url, token);
  const theirs = await connect(own.url, token);
  const session = runtime.session('s');
  let count = 0;
  const inTurn = (one: () => Promise<unknown>) => async () => {
    for (let i = 0; i < CALLS; i++) await one();
  };
  await sideBySide('MCP over HTTP: one call', [
    {
      name: 'a tool of McpServer of the SDK, ungated',
      operations: CALLS,
      run: inTurn(() => theirs.callTool({ name, arguments: args })),
    },
    {
      name: 'session.execute, without MCP',
      operations: CALLS,
      run: inTurn(() => session.execute([{ toolCallId: `c${count++}`, name, args }])),
    },
    {
      name: 'a tool of serveHttp',
      operations: CALLS,
      run: inTurn(() => ours.callTool({ name, arguments: args })),
    },
  ]);
  await Promise.all([ours.close(), theirs.close()]);
  await Promise.all([served.close(), own.close()]);
  await runtime.close();
  rmSync(home, { recursive: true, force: true });
}

async function connect(url: string, token: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return client;
}

/** One session of the SDK's own server. */
async function serveUngated() {
  const mcp = new McpServer({ name: 'bench', version: '1' });
  mcp.registerTool(name, { description, inputSchema: input.shape }, (given) => ({
    content: [{ type: 'text', text: answer(given) }],
  }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 'session' });
  await mcp.connect(transport);
  const server = createServer((request, response) => transport.handleRequest(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      await mcp.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
