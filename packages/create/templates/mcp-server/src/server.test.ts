import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { connect } from './connect.js';

let client: Client;
before(async () => {
  client = await connect();
});
after(() => client.close());

const count = (path: string) => client.callTool({ name: 'count_words', arguments: { path } });

test('the server offers the tools of its personality', async () => {
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name).sort();
  assert.deepEqual(names, ['count_words', 'read_file', 'search_files', 'write_file']);
});

test('a call inside the reach is answered', async () => {
  const { content, isError } = await count('workspace/hello.txt');
  assert.equal(isError ?? false, false);
  assert.match(JSON.stringify(content), /8 words/);
});

test('a call outside the reach is refused', async () => {
  const { content, isError } = await count('package.json');
  assert.equal(isError, true);
  assert.match(JSON.stringify(content), /PATH_NOT_REACHABLE/);
});
