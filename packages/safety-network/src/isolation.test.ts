import { execFile } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { collectGarbage, isLongRun } from '@ethosagent/test-support';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createNetworkGuard } from './network-guard.js';
import { safeFetch } from './safe-fetch.js';
import {
  type LoopbackServer,
  rejection,
  startServer,
  startTcpServer,
  until,
} from './testing/loopback.js';

let server: LoopbackServer;
beforeEach(async () => {
  server = await startServer((_, response) => response.end('hello'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

const named = (port: number) => ({ allow: [`127.0.0.1:${port}`] });

describe('NetworkGuard', () => {
  it('shares a connection among the requests of one guard, and with no other guard', async () => {
    const guards = [1, 2].map(() => createNetworkGuard({ allowedHosts: ['127.0.0.1'] }));
    for (const guard of guards) {
      for (let i = 0; i < 3; i += 1) {
        await (await guard.fetch(server.origin)).text();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
    expect(server.connections).toBe(2);
    await Promise.all(guards.map((guard) => guard.close()));
    await until(() => server.open === 0);
  });

  it('ignores proxies of the environment and a global dispatcher', async () => {
    const proxy = await startTcpServer((socket) => socket.destroy());
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'HTTPS_PROXY']) {
      vi.stubEnv(name, proxy.origin);
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    const before = getGlobalDispatcher();
    setGlobalDispatcher(
      new Agent({
        connect: () => {
          throw new Error('the global dispatcher');
        },
      }),
    );
    try {
      const guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
      expect(await (await guard.fetch(server.origin)).text()).toBe('hello');
      await guard.close();
    } finally {
      setGlobalDispatcher(before);
    }
    expect(proxy.connections).toBe(0);
    await proxy.close();
  });

  it('runs a hundred requests at once, each with its own body', async () => {
    const echo = await startServer((request, response) => response.end(request.url));
    const guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
    const paths = Array.from({ length: 100 }, (_, i) => `/${i}`);
    const bodies = await Promise.all(
      paths.map(async (path) => (await guard.fetch(echo.origin + path)).text()),
    );
    expect(bodies).toEqual(paths);
    await guard.close();
    await echo.close();
  });

  it('passes a body of 10 MB on unchanged, at the pace of its reader', async () => {
    const bytes = Buffer.from(Uint32Array.from({ length: 2_621_440 }, (_, i) => i).buffer);
    const large = await startServer((_, response) => response.end(bytes));
    const guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
    const whole = await (await guard.fetch(large.origin)).arrayBuffer();
    expect(Buffer.from(whole).equals(bytes)).toBe(true);
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await guard.fetch(large.origin)).body ?? []) {
      if (chunks.length % 16 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      expect(chunk.constructor).toBe(Uint8Array);
      expect(chunk.byteLength).toBe(chunk.buffer.byteLength);
      chunks.push(chunk);
    }
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    await guard.close();
    await large.close();
  });

  it('closes the socket when the reader cancels the body', async () => {
    const endless = await startServer((_, response) => response.write('hello'));
    const guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
    const response = await guard.fetch(endless.origin);
    await response.body?.cancel();
    await until(() => endless.open === 0);
    await guard.close();
    await endless.close();
  });

  it('keeps a body coming when the response of the underlying fetch is garbage', async () => {
    const slow = await startServer((_, response) => {
      let left = 20;
      const timer = setInterval(() => {
        left -= 1;
        if (left > 0) response.write(String(left));
        else response.end('end');
      }, 5);
      response.on('close', () => clearInterval(timer));
    });
    const guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
    const text = (await guard.fetch(slow.origin)).text();
    const timer = setInterval(collectGarbage, 10);
    expect(await text).toMatch(/^19.*1end$/);
    clearInterval(timer);
    await guard.close();
    await slow.close();
  });

  it('takes its listeners off a signal when the responses are garbage', async () => {
    const { signal } = new AbortController();
    const guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
    const onWarning = vi.fn();
    process.on('warning', onWarning);
    for (let i = 0; i < 50; i += 1) await (await guard.fetch(server.origin, { signal })).text();
    await vi.waitFor(() => {
      collectGarbage();
      expect(getEventListeners(signal, 'abort').length).toBeLessThan(10);
    });
    process.off('warning', onWarning);
    expect(onWarning).not.toHaveBeenCalled();
    await guard.close();
  });
});

describe('safeFetch', () => {
  it('shares connections among calls with equal policies, and with no others', async () => {
    const policy = named(server.port);
    for (const each of [policy, structuredClone(policy), { ...policy, deny: ['evil.test'] }]) {
      await (await safeFetch(server.origin, {}, { policy: each })).text();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(server.connections).toBe(2);
  });

  it('reaches what the policy allows, and nothing that it denies', async () => {
    const fetch = async () => new Response('ok');
    const lookup = async () => [{ address: '93.184.215.14' }];
    expect((await safeFetch('https://example.com/', {}, { fetch, lookup })).status).toBe(200);
    for (const [url, policy] of [
      [server.origin, {}],
      [server.origin, undefined],
      ['https://example.com/', { allow: [] }],
      ['https://example.com/', { allow: ['example.org'] }],
      ['https://example.com/', { deny: ['example.com'] }],
      ['https://example.com/', { allow: ['example.com'], deny: ['*'] }],
      ['http://169.254.169.254/', { allow: ['169.254.169.254'], allow_private_urls: true }],
    ] as const) {
      const error = await rejection(safeFetch(url, {}, { policy: policy as never, fetch, lookup }));
      expect(error, JSON.stringify([url, policy])).toMatchObject({ code: 'HOST_NOT_ALLOWED' });
    }
    expect(server.connections).toBe(0);
  });

  it('refuses a policy whose deny rule does not parse', async () => {
    await expect(
      safeFetch('https://example.com/', {}, { policy: { deny: ['*.*'] } }),
    ).rejects.toThrow(/^CONFIG_INVALID/);
  });
});

describe.runIf(isLongRun())('a process that uses the guard', () => {
  const run = promisify(execFile);
  const source = (file: string) => JSON.stringify(fileURLToPath(new URL(file, import.meta.url)));

  it('loads undici with the first request, and ends while a connection is idle', async () => {
    const idle = createServer((_, response) => response.end('hello'));
    idle.keepAliveTimeout = 60_000;
    await once(idle.listen(0, '127.0.0.1'), 'listening');
    const address = idle.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const script = `
      const { createNetworkGuard } = await import(${source('./index.ts')});
      const { createRequire } = await import('node:module');
      const { subscribe } = await import('node:diagnostics_channel');
      const sockets = [];
      subscribe('net.client.socket', ({ socket }) => sockets.push(socket));
      const loaded = () => Object.keys(createRequire(${source('./index.ts')}).cache)
        .some((file) => file.includes('/undici/'));
      const guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
      const before = loaded();
      const body = await (await guard.fetch('http://127.0.0.1:${port}/')).text();
      process.stdout.write(JSON.stringify({ before, after: loaded(), body }));
      process.on('exit', () => process.stdout.write(' open: ' + sockets.map((socket) => !socket.destroyed)));
    `;
    const { stdout } = await run(process.execPath, [
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      script,
    ]);
    expect(stdout).toBe('{"before":false,"after":true,"body":"hello"} open: true');
    idle.closeAllConnections();
    idle.close();
  });
});
