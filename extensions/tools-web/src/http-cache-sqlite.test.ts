import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { createFetchUrlTool } from './fetch-url.js';
import { createWebWorld, page, startServer } from './fixtures/web-world.js';

it('fetch_url has what it kept after a restart, and asks about it again', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tools-web-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const server = await startServer({
    '/fresh': page('<p>kept</p>', { 'cache-control': 'max-age=600' }),
    '/stale': (request, response) => {
      const headers = { etag: '"1"', 'cache-control': 'no-cache', 'content-type': 'text/html' };
      const isKnown = request.headers['if-none-match'] === '"1"';
      response.writeHead(isKnown ? 304 : 200, headers).end(isKnown ? undefined : '<p>asked</p>');
    },
  });
  const run = async (path: string) => {
    const store = createSqliteKvStore({ path: join(dir, 'kv.db') });
    try {
      const world = createWebWorld({
        tools: [createFetchUrlTool()],
        allow: [server.host],
        backends: { kvStoreFactory: store.kvStoreFactory },
      });
      const result = await world.run('fetch_url', { url: `${server.origin}${path}` });
      return [structuredOf(result).cache, textOf(result).split('\n').at(-1)];
    } finally {
      await store.close();
    }
  };
  expect(await run('/fresh')).toEqual(['miss', 'kept']);
  expect(await run('/fresh')).toEqual(['fresh', 'kept']);
  expect(await run('/stale')).toEqual(['miss', 'asked']);
  expect(await run('/stale')).toEqual(['revalidated', 'asked']);
  expect(server.received).toHaveLength(3);
});
