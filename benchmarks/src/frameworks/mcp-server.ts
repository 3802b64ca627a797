import { createServer } from 'node:http';
import { serveHttp } from '@ethosagent/mcp-server';
import type { ToolRuntime } from '@ethosagent/wiring';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { add, args, description, type FrameworkRuns, input, name, STEPS } from './add.js';

/** A server of ours, and one of the SDK's own, over HTTP on loopback. */
export async function create(runtime: ToolRuntime): Promise<FrameworkRuns> {
  const token = 'a'.repeat(32);
  const served = await serveHttp(runtime, { clients: { me: { token } } });
  const own = await serveUngated();
  const [ours, theirs] = await Promise.all([connect(served.url, token), connect(own.url, token)]);
  const run = async (client: Client) => {
    for (let step = 0; step < STEPS; step++) await client.callTool({ name, arguments: args });
  };
  return {
    own: () => run(theirs),
    ours: () => run(ours),
    async close() {
      await Promise.all([ours.close(), theirs.close()]);
      await Promise.all([served.close(), own.close()]);
    },
  };
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
    content: [{ type: 'text', text: add(given) }],
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
