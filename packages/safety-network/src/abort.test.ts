import { getEventListeners } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNetworkGuard, type NetworkGuard } from './network-guard.js';
import {
  type LoopbackServer,
  loopbackLookup,
  rejection,
  startServer,
  startTcpServer,
  until,
} from './testing/loopback.js';

let guard: NetworkGuard;
let server: LoopbackServer;
let requests: number;

beforeEach(async () => {
  requests = 0;
  guard = createNetworkGuard({
    allowedHosts: ['127.0.0.1', '*'],
    policy: { allow_private_urls: true },
    lookup: loopbackLookup,
  });
  server = await startServer((request, response) => {
    requests += 1;
    if (request.url === '/hang') return;
    if (request.url === '/gzip') {
      response.setHeader('content-encoding', 'gzip');
      response.write(gzipSync('hello'.repeat(1_000)).subarray(0, 20));
      return;
    }
    if (request.url === '/endless') response.write('hello');
    else if (request.url === '/large') response.end(Buffer.alloc(100_000));
    else response.end('hello');
  });
});
afterEach(async () => {
  await guard.close();
  await server.close();
});

const isAbortError = (error: unknown) =>
  error instanceof DOMException && error.name === 'AbortError';

/** Both ways to pass a signal. */
const ways: [string, (url: string, signal: AbortSignal) => Promise<Response>][] = [
  ['init.signal', (url, signal) => guard.fetch(url, { signal })],
  ['options.signal', (url, signal) => guard.fetch(url, {}, { signal })],
];

describe.each(ways)('NetworkGuard.fetch, aborted through %s', (_, fetch) => {
  it('before: rejects with an AbortError and does not connect', async () => {
    expect(isAbortError(await rejection(fetch(server.origin, AbortSignal.abort())))).toBe(true);
    expect(server.connections).toBe(0);
  });

  it('while the name is resolved: does not connect', async () => {
    let answer: (addresses: { address: string }[]) => void = () => {};
    const slow = createNetworkGuard({
      allowedHosts: ['*'],
      policy: { allow_private_urls: true },
      lookup: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const controller = new AbortController();
    const call = rejection(
      slow.fetch(`http://a.test:${server.port}/`, { signal: controller.signal }),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    controller.abort();
    expect(isAbortError(await call)).toBe(true);
    answer([{ address: '127.0.0.1' }]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.connections).toBe(0);
  });

  it('before the headers: rejects and closes the socket', async () => {
    const controller = new AbortController();
    const call = rejection(fetch(`${server.origin}/hang`, controller.signal));
    await until(() => requests === 1);
    controller.abort();
    expect(isAbortError(await call)).toBe(true);
    await until(() => server.open === 0);
  });

  it.each(['/endless', '/gzip'])(
    'during the body of %s: errors it and closes the socket',
    async (path) => {
      const controller = new AbortController();
      const response = await fetch(server.origin + path, controller.signal);
      const text = rejection(response.text());
      controller.abort();
      expect(isAbortError(await text)).toBe(true);
      await until(() => server.open === 0);
    },
  );

  it('after an answer that was read: changes nothing', async () => {
    const controller = new AbortController();
    const response = await fetch(server.origin, controller.signal);
    expect(await response.text()).toBe('hello');
    controller.abort();
    expect(await (await guard.fetch(server.origin)).text()).toBe('hello');
  });

  it('rejects with the reason of the signal', async () => {
    const reason = new Error('the user went away');
    expect(await rejection(fetch(server.origin, AbortSignal.abort(reason)))).toBe(reason);
    const error = await rejection(fetch(`${server.origin}/hang`, AbortSignal.timeout(30)));
    expect(error).toMatchObject({ name: 'TimeoutError' });
  });

  it('is not listened for after a request that was denied', async () => {
    const { signal } = new AbortController();
    const denied = rejection(fetch('http://169.254.169.254/', signal));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(await denied).toMatchObject({ code: 'HOST_NOT_ALLOWED' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('leaves other requests on the same origin alone', async () => {
    const controller = new AbortController();
    const other = fetch(server.origin, new AbortController().signal);
    const aborted = rejection(fetch(`${server.origin}/hang`, controller.signal));
    controller.abort();
    expect(isAbortError(await aborted)).toBe(true);
    expect(await (await other).text()).toBe('hello');
  });
});

describe('NetworkGuard.fetch, aborted after an answer that was not read', () => {
  it.each(['/small', '/large'])('errors the body of %s', async (path) => {
    const controller = new AbortController();
    const response = await guard.fetch(server.origin + path, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 50));
    controller.abort();
    expect(isAbortError(await rejection(response.text()))).toBe(true);
  });
});

describe('NetworkGuard.fetch, aborted during the connection', () => {
  it('closes the socket on which a TLS handshake hangs', async () => {
    const silent = await startTcpServer(() => {});
    const controller = new AbortController();
    const call = rejection(
      guard.fetch(`https://127.0.0.1:${silent.port}/`, { signal: controller.signal }),
    );
    await until(() => silent.open === 1);
    controller.abort();
    expect(isAbortError(await call)).toBe(true);
    await until(() => silent.open === 0);
    await silent.close();
  });

  it('keeps a connection that another request waits for', async () => {
    const silent = await startTcpServer(() => {});
    const controller = new AbortController();
    const url = `https://127.0.0.1:${silent.port}/`;
    const aborted = rejection(guard.fetch(url, { signal: controller.signal }));
    const waiting = rejection(guard.fetch(url, {}, { timeoutMs: 300 }));
    await until(() => silent.open === 2);
    controller.abort();
    expect(isAbortError(await aborted)).toBe(true);
    expect(await waiting).toMatchObject({ code: 'NETWORK_TIMEOUT' });
    await until(() => silent.open === 0);
    await silent.close();
  });
});

describe('NetworkGuard.close', () => {
  it('ends requests under way, and refuses later ones', async () => {
    const call = rejection(guard.fetch(`${server.origin}/hang`));
    await until(() => requests === 1);
    await guard.close();
    expect(await call).toMatchObject({ code: 'NETWORK_FAILED' });
    await until(() => server.open === 0);
    expect(await rejection(guard.fetch(server.origin))).toMatchObject({ code: 'NETWORK_FAILED' });
  });
});

describe('NetworkGuard.connect', () => {
  it.each(['127.0.0.1', 'a.test'])(
    'aborted before: neither reports %s nor connects',
    async (host) => {
      const told: unknown[] = [];
      const reason = new Error('the user went away');
      const connecting = guard.connect(new URL(`http://${host}:${server.port}/`), {
        onAccess: (access) => told.push(access),
        onSpend: (amounts) => told.push(amounts),
        signal: AbortSignal.abort(reason),
        timeoutMs: 10_000,
      });
      expect(await rejection(connecting)).toBe(reason);
      expect(told).toEqual([]);
      expect(server.connections).toBe(0);
    },
  );
});
