import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

/** Starts the server, as an MCP client does. */
export async function connect(): Promise<Client> {
  const client = new Client({ name: 'try', version: '0.1.0' });
  const args = [join(import.meta.dirname, 'server.js')];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  return client;
}
