import { createInMemoryKvStore } from '@ethosagent/core';
import { structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFetchUrlTool } from './fetch-url.js';
import { createWebWorld, failureOf, page, type Route, startServer } from './fixtures/web-world.js';
import { HttpCache } from './http-cache.js';

const NOW = Date.UTC(2026, 10, 22, 12);

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }));
afterEach(() => void vi.useRealTimers());

async function createWorld(routes: Record<string, Route>, options: object = {}) {
  const server = await startServer(routes);
  const world = createWebWorld({ tools: [createFetchUrlTool()], allow: [server.host], ...options });
  const cacheOf = async (path: string, args: object = {}, ctx: object = {}) =>
    structuredOf(await world.run('fetch_url', { url: `${server.origin}${path}`, ...args }, ctx))
      .cache;
  return { server, world, cacheOf };
}

const text = (headers: Record<string, string>) =>
  page('hello', { 'content-type': 'text/plain', date: new Date(NOW).toUTCString(), ...headers });

describe('fetch_url keeps', () => {
  const kept: [headers: Record<string, string>, second: string][] = [
    [{}, 'miss'],
    [{ 'cache-control': 'max-age=60' }, 'fresh'],
    [{ 'cache-control': 'public, s-maxage=60, max-age=0' }, 'fresh'],
    [{ expires: new Date(NOW + 60_000).toUTCString() }, 'fresh'],
    [{ 'cache-control': 'max-age=60, private' }, 'miss'],
    [{ 'cache-control': 'max-age=60, no-store' }, 'miss'],
    [{ 'cache-control': 'max-age=60', vary: '*' }, 'miss'],
    [{ 'cache-control': 'max-age=60', vary: 'Accept, Accept-Language' }, 'fresh'],
    [{ 'cache-control': 'max-age=60', 'set-cookie': 'a=b' }, 'miss'],
    [{ 'cache-control': 'max-age=0' }, 'miss'],
    // The answer has no lifetime, but it has an age.
    [{ 'last-modified': new Date(NOW - 10 * 3_600_000).toUTCString() }, 'fresh'],
  ];
  it.each(kept)('an answer with %j: then %s', async (headers, second) => {
    const { cacheOf } = await createWorld({ '/': text(headers) });
    expect(await cacheOf('/')).toBe('miss');
    expect(await cacheOf('/')).toBe(second);
  });

  it('an answer until it is stale', async () => {
    const { server, cacheOf } = await createWorld({ '/': text({ 'cache-control': 'max-age=60' }) });
    await cacheOf('/');
    vi.setSystemTime(NOW + 59_000);
    expect(await cacheOf('/')).toBe('fresh');
    vi.setSystemTime(NOW + 61_000);
    expect(await cacheOf('/')).toBe('miss');
    expect(server.received).toHaveLength(2);
  });

  const validators: [name: string, value: string, asks: string][] = [
    ['etag', '"v1"', 'if-none-match'],
    ['last-modified', new Date(NOW - 1_000).toUTCString(), 'if-modified-since'],
  ];
  it.each(validators)('what it can ask about again by its %s', async (name, value, asks) => {
    let current = value;
    const { server, world, cacheOf } = await createWorld({
      '/': (request, response) => {
        const headers = { [name]: current, 'cache-control': 'no-cache' };
        if (request.headers[asks] === current) response.writeHead(304, headers).end();
        else
          response
            .writeHead(200, { ...headers, 'content-type': 'text/plain' })
            .end(`now ${current}`);
      },
    });
    expect(await cacheOf('/')).toBe('miss');
    const again = await world.run('fetch_url', { url: `${server.origin}/` });
    expect(structuredOf(again).cache).toBe('revalidated');
    expect(textOf(again)).toContain(`now ${value}`);
    current = name === 'etag' ? '"v2"' : new Date(NOW).toUTCString();
    expect(await cacheOf('/')).toBe('miss');
    expect(await cacheOf('/')).toBe('revalidated');
    expect(server.received.map(({ headers }) => headers[asks])).toEqual([
      undefined,
      value,
      value,
      current,
    ]);
  });

  it('nothing where the operator does not want it, or the call wants to know anew', async () => {
    const headers = { 'cache-control': 'max-age=60' };
    const off = await createWorld(
      { '/': text(headers) },
      { settings: { fetch_url: { cache: false } } },
    );
    await off.cacheOf('/');
    expect(await off.cacheOf('/')).toBe('miss');
    expect(await off.world.kv('fetch_url').list('')).toEqual([]);
    const { cacheOf } = await createWorld({ '/': text(headers) });
    await cacheOf('/');
    expect(await cacheOf('/', { fresh: true })).toBe('miss');
    expect(await cacheOf('/')).toBe('fresh');
  });

  it('a permanent redirect, but not a temporary one', async () => {
    const to =
      (status: number): Route =>
      (_, response) =>
        void response
          .writeHead(status, {
            location: '/end',
            date: new Date().toUTCString(),
            ...(status === 301 && { 'cache-control': 'max-age=60' }),
          })
          .end();
    const { server, cacheOf } = await createWorld({
      '/301': to(301),
      '/302': to(302),
      '/end': text({}),
    });
    for (const path of ['/301', '/301', '/302', '/302']) await cacheOf(path);
    expect(server.received.map(({ path }) => path)).toEqual([
      '/301',
      '/end',
      '/end',
      '/302',
      '/end',
      '/302',
      '/end',
    ]);
  });
});

describe('a page that is kept', () => {
  it('is not for a personality that may not reach its host', async () => {
    const server = await startServer({ '/': text({ 'cache-control': 'max-age=60' }) });
    let allow: Record<string, string[]> = { one: [server.host], other: ['example.com'] };
    const world = createWebWorld({
      tools: [createFetchUrlTool()],
      backends: { personalityNetworkAllow: (id) => allow[id ?? ''] },
    });
    const ask = (personalityId: string) =>
      world.run('fetch_url', { url: `${server.origin}/` }, { personalityId });
    textOf(await ask('one'));
    expect(structuredOf(await ask('one')).cache).toBe('fresh');
    expect(failureOf(await ask('other'))).toMatch(/^execution_failed: HOST_NOT_ALLOWED: /);
    allow = { one: ['example.com'], other: [server.host] };
    expect(failureOf(await ask('one'))).toMatch(/^execution_failed: HOST_NOT_ALLOWED: /);
    // Now it may, but it gets its own copy, because its reach may differ in other ways.
    expect(structuredOf(await ask('other')).cache).toBe('miss');
    expect(server.received).toHaveLength(2);
  });

  it('is for its session alone where no personality is active', async () => {
    const { cacheOf } = await createWorld({ '/': text({ 'cache-control': 'max-age=60' }) });
    const as = (sessionId: string) => cacheOf('/', {}, { personalityId: undefined, sessionId });
    expect(await as('a')).toBe('miss');
    expect(await as('a')).toBe('fresh');
    expect(await as('b')).toBe('miss');
  });

  it('is no longer used when the policy has changed', async () => {
    const { server, cacheOf } = await createWorld({ '/': text({ 'cache-control': 'max-age=60' }) });
    const under = (deny: string[]) =>
      cacheOf('/', {}, { networkPolicy: { allow: [server.host], deny } });
    expect(await under([])).toBe('miss');
    expect(await under([])).toBe('fresh');
    expect(await under(['evil.example'])).toBe('miss');
  });

  it('is not needed: a store that fails is no reason not to fetch', async () => {
    const { cacheOf } = await createWorld(
      { '/': text({ 'cache-control': 'max-age=60' }) },
      {
        backends: {
          kvStoreFactory: () => ({
            get: () => Promise.reject(new Error('broken')),
            set: () => Promise.reject(new Error('broken')),
            delete: () => Promise.reject(new Error('broken')),
            list: () => Promise.reject(new Error('broken')),
          }),
        },
      },
    );
    expect(await cacheOf('/')).toBe('miss');
    expect(await cacheOf('/')).toBe('miss');
  });

  it('is ignored when the store has been tampered with', async () => {
    const { world, cacheOf } = await createWorld({ '/': text({ 'cache-control': 'max-age=60' }) });
    await cacheOf('/');
    const kv = world.kv('fetch_url');
    const [key = ''] = await kv.list('');
    for (const value of ['', '{', '{}', 'null', '{"url":1}']) {
      await kv.set(key, value);
      expect(await cacheOf('/')).toBe('miss');
    }
  });
});

describe('HttpCache', () => {
  const limits = { maxEntries: 3, maxBytes: 100, maxEntryBytes: 60 };
  const answer = (bytes: number) => ({
    status: 200,
    headers: new Headers({ 'cache-control': 'max-age=600', date: new Date().toUTCString() }),
    bytes: new Uint8Array(bytes),
  });
  const cases: [what: string, sizes: number[], left: number[]][] = [
    ['no more entries than it may', [1, 2, 3, 4, 5], [3, 4, 5]],
    ['no more bytes than it may', [50, 40, 30], [40, 30]],
    ['no entry that is too large', [61, 1], [1]],
  ];
  it.each(cases)('keeps %s', async (_, sizes, left) => {
    const kv = createInMemoryKvStore().kvStoreFactory('t', 's');
    const cache = new HttpCache(kv, 'n', limits);
    for (const [at, size] of sizes.entries()) {
      vi.setSystemTime(NOW + at);
      await cache.store(`http://example.com/${size}`, {}, answer(size));
    }
    const found: number[] = [];
    for (const size of sizes) {
      const hit = await cache.find(`http://example.com/${size}`, {});
      if (hit !== undefined) found.push(hit.answer.bytes.byteLength);
    }
    expect(found).toEqual(left);
    expect(await kv.list('')).toHaveLength(left.length);
  });

  it('keeps one answer for a URL, and none that the server no longer lets it keep', async () => {
    const kv = createInMemoryKvStore().kvStoreFactory('t', 's');
    const cache = new HttpCache(kv, 'n', limits);
    await cache.store('http://example.com/', {}, answer(1));
    vi.setSystemTime(NOW + 5);
    await cache.store('http://example.com/', {}, answer(2));
    expect((await cache.find('http://example.com/', {}))?.answer.bytes.byteLength).toBe(2);
    expect(await kv.list('')).toHaveLength(1);
    const headers = new Headers({ 'cache-control': 'no-store' });
    await cache.store('http://example.com/', {}, { ...answer(3), headers });
    expect(await kv.list('')).toEqual([]);
  });

  it('loses nothing when many write at once', async () => {
    const kv = createInMemoryKvStore().kvStoreFactory('t', 's');
    const cache = new HttpCache(kv, 'n');
    const urls = Array.from({ length: 50 }, (_, at) => `http://example.com/${at}`);
    await Promise.all(urls.map((url) => cache.store(url, {}, answer(1))));
    const hits = await Promise.all(urls.map((url) => cache.find(url, {})));
    expect(hits.every((hit) => hit?.isFresh)).toBe(true);
  });
});
