import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { createClient, createWorld } from './script.js';

// A client, as Claude Code or Cursor has one, starts a server of ours. It reads an invoice that
// somebody sent, and then wants to do what it says. Its user approves other arguments than the
// model gave. The last call is aborted.

const { home, cwd, ledger, remove } = createWorld();
const { client, call } = createClient(({ message }) => {
  console.log(message);
  const args = { path: 'ledger.txt', content: `${ledger()}invoice 7: 40\n` };
  return { action: 'accept', content: { approve: true, arguments: JSON.stringify(args) } };
});
const server = fileURLToPath(new URL('server.mjs', import.meta.url));
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: [server, home, cwd] }),
);

console.log(await call('read_file', { path: 'invoice.txt' }));
console.log(await call('write_file', { path: 'ledger.txt', content: '' }));
assert.equal(ledger(), 'invoice 6: 12\ninvoice 7: 40\n');

const controller = new AbortController();
const aborted = call('read_file', { path: 'ledger.txt' }, controller.signal);
controller.abort();
await assert.rejects(aborted);
console.log('aborted');
await client.close();
remove();
