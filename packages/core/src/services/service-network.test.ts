import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inCheck } from '@ethosagent/test-support';
import { errorCodeOf, type NetworkPolicy } from '@ethosagent/types';
import { afterEach, describe, expect, it } from 'vitest';
import type { CapabilityBackends } from '../backends.js';
import { rejection } from '../testing/batch.js';
import { present, servicesOf } from '../testing/open-services.js';

const MEGABYTE = 1024 * 1024;
const cleanups: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A server on loopback; its host with the port. */
async function serve(answer: (url: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => answer(request.url ?? '', response));
  return listening(server);
}

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

async function network(host: string, backends: CapabilityBackends = {}, secrets = {}) {
  const world = servicesOf({ personalityNetworkAllow: [host], ...backends });
  const service = await world.open({ network: { allowedHosts: [host] }, ...secrets });
  return { ...world, service, scopedFetch: present(service.scopedFetch) };
}

const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };

describe('scopedFetch of a service', () => {
  it('gives events as they come, and ends with the service', async () => {
    let response_: ServerResponse | undefined;
    const host = await serve((_url, response) => {
      response_ = response;
      response.writeHead(200, EVENTS).write('data: 1\n\n');
    });
    const { service, scopedFetch } = await network(host);
    const response = await scopedFetch.fetch(`http://${host}/`);
    const reader = present(response.body?.getReader());
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: 1\n\n');
    response_?.write('data: 2\n\n');
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: 2\n\n');
    const closed = new Promise((resolve) => response_?.once('close', resolve));
    const next = rejection(reader.read());
    await service.end();
    expect(errorCodeOf(await next)).toBe('CALL_ENDED');
    await closed;
  });

  it('gives each event at once also where secrets are taken out of it', async () => {
    let response_: ServerResponse | undefined;
    const host = await serve((_url, response) => {
      response_ = response;
      response.writeHead(200, EVENTS).write('data: you sent hunter2-hunter2\n\n');
    });
    const { service, scopedFetch } = await network(
      host,
      { secretsBackend: async () => 'hunter2-hunter2' },
      { secrets: [{ ref: 'key', hosts: [host] }] },
    );
    const authorization = `Bearer ${await present(service.secretsResolver).handle('key')}`;
    const response = await scopedFetch.fetch(`http://${host}/`, { headers: { authorization } });
    const reader = present(response.body?.getReader());
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toBe('data: you sent [secret:key]\n\n');
    response_?.write('data: hunt');
    await sleep(20);
    response_?.write('er2-hunter2\r\n\r\ndata: half');
    expect(await next()).toBe('data: [secret:key]\r\n\r\n');
  });

  it('sends the value that a secret has at each request, and none that was taken away', async () => {
    const seen: unknown[] = [];
    const host = await serve((_url, response) => {
      seen.push(response.req.headers.authorization);
      response.end('once it was first-value');
    });
    let value = 'first-value';
    const secrets: Record<string, string | false> = { key: 'other' };
    const { service, scopedFetch } = await network(
      host,
      {
        personality: () => ({ safety: { network: { allow: [host] }, secrets } }),
        secretsBackend: async (ref) => `${value} of ${ref}`,
      },
      { secrets: [{ ref: 'key', hosts: [host] }] },
    );
    const handle = await present(service.secretsResolver).handle('key');
    const send = async () =>
      (await scopedFetch.fetch(`http://${host}/`, { headers: { authorization: handle } })).text();
    await send();
    value = 'second-value';
    await send();
    secrets.key = false;
    expect(errorCodeOf(await rejection(send()))).toBe('SECRET_NOT_DECLARED');
    expect(seen).toEqual(['first-value of other', 'second-value of other']);
  });

  const bodies: Array<[string, Record<string, string>, string | undefined]> = [
    ['an event stream of 60 MB', EVENTS, undefined],
    ['an event stream by another spelling', { 'content-type': 'Text/Event-Stream' }, undefined],
    ['a body of 60 MB', { 'content-type': 'application/json' }, 'BODY_TOO_LARGE'],
    ['what only begins like one', { 'content-type': 'text/event-streams' }, 'BODY_TOO_LARGE'],
  ];
  const ofKinds = ['an event stream of 60 MB', 'what only begins like one'];
  it.each(inCheck(bodies, ([body]) => ofKinds.includes(body)))(
    'for %s: %s, %s',
    async (_name, headers, code) => {
      const host = await serve((_url, response) => {
        response.writeHead(200, headers);
        let left = 60;
        const more = () => {
          while (left > 0) {
            left -= 1;
            if (!response.write(Buffer.alloc(MEGABYTE, 'x')))
              return void response.once('drain', more);
          }
          response.end();
        };
        more();
      });
      const { scopedFetch } = await network(host);
      const read = async () => {
        let bytes = 0;
        const { body } = await scopedFetch.fetch(`http://${host}/`);
        for await (const chunk of body ?? []) bytes += chunk.length;
        return bytes;
      };
      if (code === undefined) expect(await read()).toBe(60 * MEGABYTE);
      else expect(errorCodeOf(await rejection(read()))).toBe(code);
    },
  );

  it('counts the bytes of a stream against the session', async () => {
    const host = await serve((_url, response) => {
      response.writeHead(200, EVENTS);
      const timer = setInterval(() => response.write(`data: ${'x'.repeat(1000)}\n\n`), 1);
      response.once('close', () => clearInterval(timer));
    });
    const { scopedFetch } = await network(host, {
      personalityQuotas: { per_call: { bytes_in: 10 }, per_session: { bytes_in: 20_000 } },
    });
    const response = await scopedFetch.fetch(`http://${host}/`);
    expect(errorCodeOf(await rejection(response.text()))).toBe('QUOTA_EXCEEDED');
  });
});

/** Sends bytes to a proxy. Returns the answer once it contains `until` or the connection ends. */
function talk(server: string, bytes: string, until?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server);
    const socket = connect(Number(port), hostname);
    cleanups.push(() => socket.destroy());
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (until !== undefined && text.includes(until)) resolve(text);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(bytes);
  });
}

describe('the policy of a personality', () => {
  const policies: Record<string, NetworkPolicy> = {
    denies: { deny: ['127.0.0.1'] },
    consents: { allow_private_urls: true },
  };
  it.each([
    ['denies', 'HOST_NOT_ALLOWED'],
    ['consents', undefined],
    ['other', 'HOST_NOT_ALLOWED'],
    [undefined, 'HOST_NOT_ALLOWED'],
  ])('holds for services that no call opens: %s', async (personalityId, code) => {
    const host = await serve((_url, response) => response.end('fine'));
    const { open } = servicesOf({
      personalityNetworkAllow: ['*'],
      personalityNetworkPolicy: (id) => policies[id ?? ''],
    });
    const owner = personalityId === undefined ? {} : { personalityId };
    const { scopedFetch } = await open({ network: { allowedHosts: [host] } }, owner);
    const answer = await present(scopedFetch)
      .fetch(`http://${host}/`)
      .catch((error: unknown) => error);
    expect(errorCodeOf(answer)).toBe(code);
  });
});

describe('the proxy of a service', () => {
  const world = async (backends: CapabilityBackends = {}) => {
    const host = await serve((url, response) => response.end(`answer to ${url}`));
    const opened = await network(host, backends);
    const proxy = present(await opened.service.proxy?.());
    const basic = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64');
    const credential = `Proxy-Authorization: Basic ${basic}\r\n`;
    return { ...opened, host, proxy, credential };
  };
  const get = (host: string, headers: string) =>
    `GET http://${host}/path HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`;

  it('lets through what scopedFetch would, and records it', async () => {
    const { host, proxy, credential, events } = await world();
    expect(proxy.server).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await talk(proxy.server, get(host, credential))).toContain('answer to /path');
    expect(events.at(-1)).toMatchObject({
      capability: 'network',
      operation: 'proxy',
      target: `http://${host}/`,
      decision: 'allowed',
      toolName: 'svc',
    });
    const denied = await talk(proxy.server, get('169.254.169.254', credential));
    expect(denied).toMatch(/^HTTP\/1.1 403 .*HOST_NOT_ALLOWED/s);
    expect(events.at(-1)).toMatchObject({ decision: 'denied' });
  });

  it('wants its credential, and says for what', async () => {
    const { host, proxy } = await world();
    const answer = await talk(proxy.server, get(host, ''));
    expect(answer).toMatch(/^HTTP\/1.1 407 .*proxy-authenticate: Basic realm="ethos"/is);
    const tunnel = `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    expect(await talk(proxy.server, tunnel)).toMatch(/407 .*Basic realm="ethos"/s);
  });

  it('is one for each service, and not that of another', async () => {
    const { service, open, host, proxy } = await world();
    const again = await Promise.all([service.proxy?.(), service.proxy?.()]);
    expect(again).toEqual([proxy, proxy]);
    const other = await open({ network: { allowedHosts: [host] } }, { sessionId: 's2' });
    const others = await other.proxy?.();
    expect(others?.server).not.toBe(proxy.server);
    expect(others?.password).not.toBe(proxy.password);
  });

  it('passes WebSockets through tunnels to the hosts of the service alone', async () => {
    const echo = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n');
        socket.on('data', (frame) => socket.write(frame));
      });
    });
    const host = await listening(echo);
    const { service } = await network(host);
    const { server, username, password } = present(await service.proxy?.());
    const basic = Buffer.from(`${username}:${password}`).toString('base64');
    const tunnelTo = (place: string) =>
      `CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\nProxy-Authorization: Basic ${basic}\r\n\r\n`;
    const upgrade = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    expect(await talk(server, tunnelTo(host) + upgrade, '101 Switching')).toContain('101');
    expect(await talk(server, tunnelTo('evil.example:80'))).toContain('403');
    expect(await talk(server, tunnelTo('169.254.169.254:80'))).toContain('403');
  });

  it('an upgrade that asks for no tunnel is a request like any other', async () => {
    const { host, proxy, credential, events } = await world();
    const upgrade = `${credential}Upgrade: websocket\r\n`;
    const answer = await talk(
      proxy.server,
      get(host, upgrade).replace('Connection: close', 'Connection: Upgrade, close'),
      'answer to',
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 .*answer to \/path/s);
    const denied = get('evil.example', upgrade).replace('Connection: close', 'Connection: Upgrade');
    expect(await talk(proxy.server, denied, 'HOST_NOT_ALLOWED')).toMatch(/^HTTP\/1.1 403 /);
    expect(events.at(-1)).toMatchObject({ decision: 'denied' });
  });

  it('closes with the service, and its connections with it', async () => {
    const silent = createTcpServer((socket) => void socket.on('error', () => {}).resume());
    const host = await listening(silent);
    const { service } = await network(host);
    const { server, username, password } = present(await service.proxy?.());
    const basic = Buffer.from(`${username}:${password}`).toString('base64');
    const tunnel = talk(
      server,
      `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\nProxy-Authorization: Basic ${basic}\r\n\r\n`,
    );
    await sleep(50);
    await service.end();
    expect(await tunnel).toContain('200 Connection established');
    await expect(talk(server, 'x')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(errorCodeOf(await rejection(present(service.proxy?.())))).toBe('CALL_ENDED');
  });

  it('one that is asked for as the service ends is closed too', async () => {
    const { service } = await network('127.0.0.1:1');
    const asked = present(service.proxy?.()).catch(() => undefined);
    await service.end();
    const proxy = await asked;
    if (proxy !== undefined) {
      await expect(talk(proxy.server, 'x')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    }
  });

  it('spends the quotas of the session', async () => {
    const { host, proxy, credential } = await world({
      personalityQuotas: { per_call: { requests: 1 }, per_session: { requests: 2 } },
    });
    for (const status of [200, 200, 403]) {
      expect(await talk(proxy.server, get(host, credential))).toContain(`HTTP/1.1 ${status} `);
    }
  });

  it('is absent where no network is declared', async () => {
    const { open } = servicesOf();
    expect((await open({})).proxy).toBeUndefined();
  });
});
