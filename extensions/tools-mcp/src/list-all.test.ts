import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, it, onTestFinished } from 'vitest';
import { MAX_CURSOR_CHARS } from './limits.js';
import { listAll } from './list-all.js';

/** Lists the tools of a server, a page for each mark of a next page. Returns what happened. */
async function listPages(cursors: readonly string[]) {
  const happened: string[] = [];
  const server = new Server({ name: 'h', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => {
    const page = happened.filter((what) => what.startsWith('asked')).length;
    happened.push(`asked ${page}`);
    const tools = [{ name: `t${page}`, inputSchema: { type: 'object' as const } }];
    return { tools, nextCursor: cursors[page] };
  });
  const client = new Client({ name: 'c', version: '1' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  onTestFinished(() => client.close());
  const { items, cut } = await listAll(client, 'tools/list', {
    maxItems: 10,
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    read: () => happened.push('read'),
  });
  return { happened, count: items.length, cut };
}

it('listAll reads each page before it asks for the next, so that only what was read stays', async () => {
  expect(await listPages(['a', 'b'])).toEqual({
    happened: ['asked 0', 'read', 'asked 1', 'read', 'asked 2', 'read'],
    count: 3,
    cut: false,
  });
});

it('listAll ends at a mark of a next page that is too long', async () => {
  const long = 'x'.repeat(MAX_CURSOR_CHARS);
  expect(await listPages([long, `${long}x`, 'c'])).toMatchObject({ count: 2, cut: true });
});
