import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGate } from '@ethosagent/test-support';
import { CapabilityError } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFilteringProxy } from './filtering-proxy.js';
import type { FilteringProxyOptions } from './filtering-proxy-api.js';
import type { NetworkAccess } from './hop.js';
import { createNetworkGuard, type NetworkGuard } from './network-guard.js';
import { type LoopbackServer, startServer, startTcpServer, until } from './testing/loopback.js';

let server: LoopbackServer;
let canary: LoopbackServer;
let guard: NetworkGuard;
let accesses: NetworkAccess[];
let folder: string;
let socketPath: string;
const cleanups: Array<() => Promise<unknown>> = [];
const seen: Array<{
  headers: Record<string, unknown>;
  hosts: unknown;
  body: string;
  method: unknown;
}> = [];

async function start(options: Partial<FilteringProxyOptions> = {}) {
  const onAccess = (access: NetworkAccess) => accesses.push(access);
  const proxy = await createFilteringProxy({ guard, socketPath, onAccess, ...options });
  cleanups.push(() => proxy.close());
  return proxy;
}

/** Sends bytes to the proxy. Returns everything that arrives until the connection ends. */
function talk(bytes: string, to: string | number = socketPath): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = typeof to === 'string' ? connect(to) : connect(to, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(bytes, 'latin1');
  });
}

const get = (url: string, headers = '', host = new URL(url).host) =>
  `GET ${url} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`;

beforeEach(async () => {
  accesses = [];
  seen.length = 0;
  folder = mkdtempSync(join(tmpdir(), 'proxy-'));
  socketPath = join(folder, 'proxy.sock');
  server = await startServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { headers, headersDistinct, method } = request;
    seen.push({ headers, hosts: headersDistinct.host, body, method });
    const { 'x-tell': told = '' } = request.headers;
    if (told !== '') response.setHeader('X-Ethos-Proxy', told);
    response.writeHead(200, { 'x-answer': 'yes', 'keep-alive': 'x', 'proxy-authenticate': 'x' });
    response.end(`${request.method} ${request.url} ${body}`);
  });
  canary = await startTcpServer(() => {});
  guard = createNetworkGuard({
    allowedHosts: [
      `ok.test:${server.port}`,
      'rebound.test',
      'split.test',
      `127.0.0.1:${server.port}`,
    ],
    policy: {
      allow: [`ok.test:${server.port}`, '*.test', `127.0.0.1:${server.port}`],
      allow_private_urls: true,
    },
    lookup: async (host) => {
      if (host === 'rebound.test') return [{ address: '169.254.169.254' }];
      if (host === 'split.test') return [{ address: '127.0.0.1' }, { address: 'fd00:ec2::254' }];
      return [{ address: '127.0.0.1' }];
    },
  });
  cleanups.push(() => server.close());
  cleanups.push(() => canary.close());
  cleanups.push(() => guard.close());
  cleanups.push(async () => rmSync(folder, { recursive: true, force: true }));
});
afterEach(async () => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('createFilteringProxy, for http', () => {
  it.each([
    // Only the second one is named by its address. The first one is allowed by
    // `allow_private_urls`.
    ['ok.test', { privateUrls: true }],
    ['127.0.0.1', {}],
  ])('sends a request to %s on', async (host, more) => {
    await start();
    const answer = await talk(get(`http://${host}:${server.port}/path?a=b`));
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(answer).toContain('GET /path?a=b');
    expect(accesses).toEqual([
      {
        url: `http://${host}:${server.port}/`,
        host,
        decision: 'allowed',
        rule: `${host}:${server.port}`,
        entries: { covers: `${host}:${server.port}`, allow: `${host}:${server.port}`, ...more },
      },
    ]);
  });

  it('marks what it answers itself, and nothing that a server answers', async () => {
    const { mark } = await start();
    const ours = `\r\nx-ethos-proxy: ${mark}\r\n`;
    expect(await talk(get('http://other.test/'))).toContain(ours);
    const tunnel = 'CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n';
    expect(await talk(tunnel)).toContain(ours);
    const theirs = await talk(get(`http://ok.test:${server.port}/`, `X-Tell: ${mark}\r\n`));
    expect(theirs).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(theirs.toLowerCase()).not.toContain('x-ethos-proxy');
  });

  it('has a mark of its guard', async () => {
    const { mark } = await start();
    const other = createNetworkGuard({ allowedHosts: [] });
    expect((await start({ socketPath: undefined })).mark).toBe(mark);
    expect((await start({ socketPath: undefined, guard: other })).mark).not.toBe(mark);
  });

  it('strips what is between two neighbours, in both directions', async () => {
    await start();
    const answer = await talk(
      get(
        `http://ok.test:${server.port}/`,
        'Proxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nX-Mine: 1\r\nConnection: x-private\r\nX-Private: 1\r\nUpgrade: websocket\r\nX-Kept: a\r\nX-Kept: b\r\n',
      ),
    );
    expect(seen[0]?.headers).toEqual({
      host: `ok.test:${server.port}`,
      connection: 'close',
      'x-mine': '1',
      'x-kept': 'a, b',
    });
    expect(answer).toContain('x-answer: yes');
    expect(answer).not.toMatch(/proxy-authenticate|keep-alive: x/i);
  });

  it('names the host of the URL to the server, and no other', async () => {
    await start();
    await talk(get(`http://ok.test:${server.port}/`, 'Host: other.test\r\n'));
    expect(seen[0]?.hosts).toEqual([`ok.test:${server.port}`]);
  });

  it('ends the connection of a request whose client is gone', async () => {
    const silent = await startTcpServer(() => {});
    cleanups.push(() => silent.close());
    guard = createNetworkGuard({ allowedHosts: [`127.0.0.1:${silent.port}`] });
    await start({ idleTimeoutMs: 3_600_000 });
    const client = connect(socketPath);
    client.write(get(`http://127.0.0.1:${silent.port}/`));
    await until(() => silent.open === 1);
    client.destroy();
    await until(() => silent.open === 0);
  });

  it.each([
    ['with a length', 'Content-Length: 5\r\n\r\nhello'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'],
  ])('sends a body %s on', async (_name, rest) => {
    await start();
    for (const method of ['POST', 'GET']) {
      const url = `http://ok.test:${server.port}/`;
      const answer = await talk(
        `${method} ${url} HTTP/1.1\r\nHost: ok.test:${server.port}\r\nConnection: close\r\n${rest}`,
      );
      expect(answer).toContain(`${method} / hello`);
    }
  });

  it.each<[string, () => string, string]>([
    ['a host that is not allowed', () => get('http://evil.example/'), 'not in the host set'],
    ['another port', () => get(`http://ok.test:${canary.port}/`), 'not in the host set'],
    ['a metadata address', () => get('http://169.254.169.254/'), 'metadata service'],
    ['a name that leads to one', () => get('http://rebound.test/'), 'address floor: metadata'],
    ['a name with one bad address', () => get('http://split.test/'), 'address floor: metadata'],
    ['a port of another service', () => get('http://split.test:6379/'), 'port'],
    ['a user name', () => get('http://a:b@split.test/', '', 'split.test'), 'userinfo'],
    ['an https URL', () => get('https://split.test/'), 'malformed request'],
    [
      'a path alone',
      () => 'GET / HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n',
      'malformed request',
    ],
    [
      'another Host header',
      () => get(`http://ok.test:${server.port}/`, '', 'evil.example'),
      'malformed request',
    ],
    [
      'the Host header of another port',
      () => get(`http://ok.test:${server.port}/`, '', 'ok.test'),
      'malformed request',
    ],
    ['another scheme', () => get('ftp://ok.test/'), 'malformed request'],
    [
      'TRACE',
      () => get(`http://ok.test:${server.port}/`).replace('GET', 'TRACE'),
      'malformed request',
    ],
  ])('refuses %s', async (_name, bytes, rule) => {
    await start();
    expect(await talk(bytes())).toMatch(/^HTTP\/1.1 403 Forbidden\r\n.*HOST_NOT_ALLOWED: /s);
    expect(accesses).toMatchObject([{ decision: 'denied', rule }]);
    expect([server.connections, canary.connections]).toEqual([0, 0]);
  });
});

describe('createFilteringProxy, for tunnels', () => {
  it('leads to the host and port that were asked for', async () => {
    await start();
    const authority = `ok.test:${server.port}`;
    const answer = await talk(
      `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\nGET /inside HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 Connection established\r\n\r\nHTTP\/1.1 200 OK\r\n/);
    expect(answer).toContain('GET /inside');
    expect(accesses).toMatchObject([{ url: `https://${authority}/`, decision: 'allowed' }]);
  });

  it.each<[string, string | (() => string), string]>([
    ['another host', 'evil.example:443', 'not in the host set'],
    ['another port', () => `ok.test:${canary.port}`, 'not in the host set'],
    ['an address', () => `127.0.0.1:${canary.port}`, 'not in the host set'],
    ['an address in octal', () => `0177.0.0.1:${canary.port}`, 'not in the host set'],
    ['a metadata address', '169.254.169.254:80', 'metadata service'],
    ['a metadata address within IPv6', '[::ffff:169.254.169.254]:80', 'metadata service'],
    ['a name that leads to one', 'rebound.test:443', 'address floor: metadata'],
    ['a mail port', 'rebound.test:25', 'port'],
    ['no port', 'ok.test', 'malformed request'],
    ['a path', 'ok.test:443/x', 'malformed request'],
    ['a user name', () => `evil@ok.test:${server.port}`, 'malformed request'],
    ['a port too high', 'ok.test:99999', 'malformed request'],
    ['percent-encoding', () => `%6fk.test:${server.port}`, 'malformed request'],
  ])('refuses %s', async (_name, authority, rule) => {
    await start();
    const place = typeof authority === 'string' ? authority : authority();
    const answer = await talk(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 403 Forbidden\r\n/);
    expect(accesses).toMatchObject([{ decision: 'denied', rule }]);
    expect([server.connections, canary.connections]).toEqual([0, 0]);
  });

  it('says that a server does not answer', async () => {
    await start();
    const { port } = server;
    await server.close();
    const answer = await talk(`CONNECT ok.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 502 Bad Gateway\r\n.*NETWORK_FAILED.*ECONNREFUSED/s);
  });
});

describe('createFilteringProxy', () => {
  it.each([
    ['an address that is never found', 0],
    ['a connection that is never made', 1],
  ])('says that it waited too long for %s', async (_name, answers) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let asked = 0;
    guard = createNetworkGuard({
      allowedHosts: ['*'],
      policy: { allow_private_urls: true },
      lookup: () => {
        asked += 1;
        // The next look-up asks again: what was found is too old for it.
        vi.advanceTimersByTime(60_000);
        if (asked > answers) return new Promise(() => {});
        return Promise.resolve([{ address: '127.0.0.1' }]);
      },
    });
    await start({ connectTimeoutMs: 20 });
    const answer = await talk(get(`http://ok.test:${server.port}/`));
    expect(answer).toMatch(/^HTTP\/1.1 504 Gateway Timeout\r\n.*NETWORK_TIMEOUT/s);
    expect(asked).toBe(answers + 1);
    expect(server.connections).toBe(0);
  });

  it('on a port is for those who have its credential', async () => {
    const proxy = await start({ socketPath: undefined });
    const url = new URL(proxy.url ?? '');
    expect(url.hostname).toBe('127.0.0.1');
    const port = Number(url.port);
    const target = `http://ok.test:${server.port}/`;
    const header = (text: string) =>
      `Proxy-Authorization: Basic ${Buffer.from(text).toString('base64')}\r\n`;
    for (const wrong of [
      '',
      header('ethos:'),
      header(`ethos:${url.password}x`),
      header(`x:${url.password}`),
    ]) {
      expect(await talk(get(target, wrong), port)).toMatch(/^HTTP\/1.1 407 /);
      const tunnel = `CONNECT ok.test:${server.port} HTTP/1.1\r\nHost: x\r\n${wrong}\r\n`;
      expect(await talk(tunnel, port)).toMatch(/^HTTP\/1.1 407 /);
    }
    expect(server.connections).toBe(0);
    const right = header(`${url.username}:${url.password}`);
    expect(await talk(get(target, right), port)).toMatch(/^HTTP\/1.1 200 /);
    expect(JSON.stringify(seen)).not.toContain('authorization');
    const other = await start({ socketPath: undefined });
    expect(new URL(other.url ?? '').password).not.toBe(url.password);
  });

  it('makes a socket for its owner alone', async () => {
    chmodSync(folder, 0o700);
    const proxy = await start();
    expect(proxy.url).toBeUndefined();
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  });

  it('says where it can not listen', async () => {
    await expect(start({ socketPath: join(folder, 'none', 'proxy.sock') })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  it('refuses what can not be reported', async () => {
    const onAccess = () => {
      throw new CapabilityError('AUDIT_FAILED', 'the disk is full', 'audit failed');
    };
    await start({ onAccess });
    expect(await talk(get(`http://ok.test:${server.port}/`))).toMatch(/^HTTP\/1.1 403 /);
    expect(server.connections).toBe(0);
  });

  it.each([
    ['requests', 'request', 0],
    ['bytes_out', 'request', 0],
    ['bytes_in', 'tunnel', 1],
    ['bytes_out', 'tunnel', 1],
  ] as const)('ends with the quota of %s in a %s', async (quota, kind, connections) => {
    const onSpend = (amounts: object) => {
      if (quota in amounts) throw new CapabilityError('QUOTA_EXCEEDED', 'no more', 'quota');
    };
    await start({ onSpend });
    const inner = get(`http://ok.test:${server.port}/`);
    const place = `ok.test:${server.port}`;
    const answer = await talk(
      kind === 'request' ? inner : `CONNECT ${place} HTTP/1.1\r\nHost: x\r\n\r\n${inner}`,
    );
    expect(answer).not.toContain('x-answer');
    expect(server.connections).toBe(connections);
  });

  it('counts the head and the body of a request, and the body of its answer', async () => {
    const spent: object[] = [];
    await start({ onSpend: (amounts) => spent.push(amounts) });
    const url = `http://ok.test:${server.port}/`;
    const headers = { Host: `ok.test:${server.port}`, Connection: 'close', 'Content-Length': '5' };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    await talk(`POST ${url} HTTP/1.1\r\n${lines.join('')}\r\nhello`);
    expect(spent).toEqual([
      { requests: 1, bytes_out: `${url}${Object.entries(headers).flat().join('')}`.length },
      { bytes_out: 5 },
      { bytes_in: 'POST / hello'.length },
    ]);
  });

  it('keeps the text of an unknown error to itself', async () => {
    const onAccess = () => {
      throw new Error('secret');
    };
    await start({ onAccess });
    const answer = await talk(get(`http://ok.test:${server.port}/`));
    expect(answer).toMatch(/^HTTP\/1.1 502 .*the request failed/s);
    expect(answer).not.toContain('secret');
  });

  it('has no more connections than it may', async () => {
    await start({ maxConnections: 1 });
    const place = `ok.test:${server.port}`;
    const first = connect(socketPath);
    first.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`);
    await once(first, 'data');
    const second = talk(get(`http://${place}/`)).catch(() => '');
    expect(await second).toBe('');
    first.destroy();
    expect(seen).toEqual([]);
  });

  it('ends a client that sends nothing', async () => {
    await start({ idleTimeoutMs: 50 });
    expect(await talk('')).toBe('');
  });

  it('ends what is idle', async () => {
    const silent = await startTcpServer(() => {});
    cleanups.push(() => silent.close());
    guard = createNetworkGuard({ allowedHosts: [`127.0.0.1:${silent.port}`] });
    await start({ idleTimeoutMs: 50 });
    const answer = await talk(`CONNECT 127.0.0.1:${silent.port} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer).toContain('200');
    await until(() => silent.open === 0);
  });

  it('closes everything', async () => {
    const silent = await startTcpServer(() => {});
    cleanups.push(() => silent.close());
    guard = createNetworkGuard({ allowedHosts: [`127.0.0.1:${silent.port}`] });
    const proxy = await start();
    const ended = Promise.all(
      Array.from({ length: 5 }, () =>
        talk(`CONNECT 127.0.0.1:${silent.port} HTTP/1.1\r\nHost: x\r\n\r\n`),
      ),
    );
    await until(() => silent.open === 5);
    await proxy.close();
    await ended;
    await until(() => silent.open === 0);
    await expect(talk('x')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('opens no connection after it was closed', async () => {
    const asked = createGate();
    const found = createGate();
    guard = createNetworkGuard({
      allowedHosts: ['*'],
      policy: { allow_private_urls: true },
      lookup: async () => {
        asked.open();
        await found.opened;
        return [{ address: '127.0.0.1' }];
      },
    });
    const proxy = await start();
    const ended = talk(`CONNECT ok.test:${server.port} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await asked.opened;
    await proxy.close();
    expect(await ended).toBe('');
    found.open();
    await (await guard.fetch(`http://ok.test:${server.port}/`)).text();
    await guard.close();
    expect(server.connections).toBe(1);
  });
});
