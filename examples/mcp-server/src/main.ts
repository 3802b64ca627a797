import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { createWorld } from '../../ledger/src/index.js';
import { createClient } from './client.js';

const { options, decision, ledger, before, after, close } = createWorld();
const { client, call } = createClient(({ message }) => {
  console.log(message);
  assert.equal(ledger(), before);
  const content = { approve: true, arguments: JSON.stringify(decision.args) };
  return { action: 'accept', content };
});
const server = fileURLToPath(new URL('server.mjs', import.meta.url));
const args = [server, options.home, options.cwd];
await client.connect(new StdioClientTransport({ command: process.execPath, args }));

console.log(await call('read_file', { path: 'invoice.txt' }));
console.log(await call('write_file', { path: 'ledger.txt', content: '' }));
assert.equal(ledger(), after);

const controller = new AbortController();
const aborted = call('read_file', { path: 'ledger.txt' }, controller.signal);
controller.abort();
await assert.rejects(aborted);
await close(client);
