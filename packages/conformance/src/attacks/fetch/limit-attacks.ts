import type { ServerResponse } from 'node:http';
import { createGzip, gzipSync } from 'node:zlib';
import { isLongRun } from '@ethosagent/test-support';
import type { ScopedFetch } from '@ethosagent/types';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type AttackedFetch,
  type CountingServer,
  type CreateFetch,
  rejection,
  startCanary,
  startServer,
  toLoopback,
  until,
} from './fetch-world.js';

const MEGABYTE = 1024 * 1024;

/** Attacks with servers whose answer never ends, and with calls that end before the answer. */
export function limitAttacks(create: CreateFetch): void {
  let server: CountingServer;
  let silent: CountingServer;
  let attacked: AttackedFetch;
  let scopedFetch: ScopedFetch;
  let answer: (response: ServerResponse) => void = (response) => response.end('fine');

  beforeAll(async () => {
    server = await startServer((_, response) => answer(response));
    silent = await startCanary();
    const hosts = [`a.test:${server.port}`, `a.test:${silent.port}`, `127.0.0.1:${server.port}`];
    const policy = { allow: hosts, allow_private_urls: true };
    attacked = await create({ allowedHosts: hosts, policy, lookup: toLoopback });
    scopedFetch = attacked.scopedFetch;
  });
  afterAll(async () => {
    await attacked.close?.();
    await server.close();
    await silent.close();
  });

  const get = (init: RequestInit = {}) => scopedFetch.fetch(`http://a.test:${server.port}/`, init);
  const read = async (init?: RequestInit) => (await get(init)).text();

  it.runIf(isLongRun())('ends a body that unpacks to 512 MB, in little memory', async () => {
    const member = gzipSync(Buffer.alloc(8 * MEGABYTE));
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => member));
    answer = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    const before = process.memoryUsage().rss;
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 5);
    const response = await get();
    const reading = (async () => {
      for await (const _ of response.body ?? []);
    })();
    expect(await rejection(reading)).toMatchObject({ code: 'BODY_TOO_LARGE' });
    clearInterval(timer);
    expect(most - before).toBeLessThan(200 * MEGABYTE);
    await until(() => server.open === 0);
  });

  it('ends a body without end', async () => {
    const chunk = Buffer.alloc(MEGABYTE);
    answer = (response) => {
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    };
    const response = await get();
    const reading = (async () => {
      for await (const _ of response.body ?? []);
    })();
    expect(await rejection(reading)).toMatchObject({ code: 'BODY_TOO_LARGE' });
    await until(() => server.open === 0);
  });

  it('refuses a thousand content encodings', async () => {
    const encodings = Array.from({ length: 1_000 }, () => 'gzip').join(', ');
    answer = (response) => response.writeHead(200, { 'content-encoding': encodings }).end('x');
    expect(await rejection(read())).toMatchObject({ code: 'NETWORK_FAILED' });
  });

  it('passes a body on that is gzipped', async () => {
    answer = (response) => {
      const gzip = createGzip();
      gzip.pipe(response.writeHead(200, { 'content-encoding': 'gzip' }));
      gzip.end('hello');
    };
    expect(await read()).toBe('hello');
  });

  it('ends with its signal while nobody answers', async () => {
    const controller = new AbortController();
    const url = `http://a.test:${silent.port}/`;
    const fetching = scopedFetch.fetch(url, { signal: controller.signal });
    await until(() => silent.connections > 0);
    controller.abort();
    expect(await rejection(fetching)).toMatchObject({ name: 'AbortError' });
    await until(() => silent.open === 0);
  });

  it('does not begin when its signal was aborted before', async () => {
    const before = server.connections;
    expect(await rejection(read({ signal: AbortSignal.abort() }))).toMatchObject({
      name: 'AbortError',
    });
    expect(server.connections).toBe(before);
  });

  it('ends with its signal in the middle of a body', async () => {
    answer = (response) => response.write('begun');
    const controller = new AbortController();
    const response = await get({ signal: controller.signal });
    const body = response.text();
    controller.abort();
    expect(await rejection(body)).toMatchObject({ name: 'AbortError' });
    await until(() => server.open === 0);
  });

  it('keeps what it gave when its signal is aborted afterwards', async () => {
    answer = (response) => response.end('fine');
    const controller = new AbortController();
    const text = await read({ signal: controller.signal });
    controller.abort();
    expect(text).toBe('fine');
  });
}
