import { CapabilityError } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NetworkAccess } from './hop.js';
import { createNetworkGuard, type NetworkGuard } from './network-guard.js';
import { type LoopbackServer, loopbackLookup, rejection, startServer } from './testing/loopback.js';

let server: LoopbackServer;
let guard: NetworkGuard;
let accesses: NetworkAccess[];
let connectionsWhenTold: number[];

const onAccess = (access: NetworkAccess) => {
  connectionsWhenTold.push(server.connections);
  accesses.push(access);
};

beforeEach(async () => {
  accesses = [];
  connectionsWhenTold = [];
  server = await startServer((request, response) => {
    const to = new URL(request.url ?? '', 'http://x').searchParams.get('to');
    if (to) response.writeHead(302, { location: to });
    response.end('hello');
  });
  guard = createNetworkGuard({
    allowedHosts: ['127.0.0.1', '*.test'],
    policy: { allow: ['127.0.0.1', '*.test'], deny: ['evil.test'], allow_private_urls: true },
    lookup: async (host) =>
      host === 'bad.test' ? [{ address: '169.254.169.254' }] : loopbackLookup(),
  });
});
afterEach(async () => {
  await guard.close();
  await server.close();
});

describe('onAccess', () => {
  it.each(['127.0.0.1', 'a.test'])(
    'is told of a request to %s once, before it connects',
    async (host) => {
      const url = `http://${host}:${server.port}`;
      const response = await guard.fetch(`${url}/path?key=secret#secret`, {}, { onAccess });
      await response.text();
      const rule = host === 'a.test' ? '*.test' : host;
      const opened = host === 'a.test' && { privateUrls: true };
      const entries = { covers: rule, allow: rule, ...opened };
      expect(accesses).toEqual([{ url: `${url}/path`, host, decision: 'allowed', rule, entries }]);
      expect(connectionsWhenTold).toEqual([0]);
    },
  );

  it('is told of every hop, in order, also on a connection that is used again', async () => {
    const end = `http://b.test:${server.port}/end`;
    const start = `http://a.test:${server.port}/?to=${encodeURIComponent(end)}`;
    for (let i = 0; i < 2; i += 1) await (await guard.fetch(start, {}, { onAccess })).text();
    expect(accesses.map(({ host, decision }) => `${decision} ${host}`)).toEqual([
      'allowed a.test',
      'allowed b.test',
      'allowed a.test',
      'allowed b.test',
    ]);
  });

  it.each([
    [
      'a host that is not declared',
      'http://c.example/x?secret',
      'c.example',
      'not in the host set',
    ],
    ['a denied host', 'http://evil.test/', 'evil.test', 'deny list: evil.test'],
    ['a bad address', 'http://bad.test/', 'bad.test', 'address floor: metadata'],
    ['a scheme', 'data:text/plain,secret', '', 'scheme'],
    ['no URL', 'secret', '', 'malformed URL'],
    ['a user name', 'http://secret:secret@a.test/', 'a.test', 'userinfo'],
  ])('is told once of the denial of %s', async (_, url, host, rule) => {
    const error = await rejection(guard.fetch(url, {}, { onAccess }));
    expect(error).toBeInstanceOf(CapabilityError);
    expect(accesses).toMatchObject([{ host, decision: 'denied', rule }]);
    expect(JSON.stringify(accesses)).not.toContain('secret');
    expect(server.connections).toBe(0);
  });

  it('is told which entry denies an address behind a name', async () => {
    const denying = createNetworkGuard({
      allowedHosts: ['*.test'],
      policy: { deny: ['127.0.0.1'], allow_private_urls: true },
      lookup: loopbackLookup,
    });
    await rejection(denying.fetch('http://a.test/', {}, { onAccess }));
    const entries = { covers: '*.test', deny: '127.0.0.1' };
    expect(accesses).toMatchObject([{ decision: 'denied', rule: 'deny list: 127.0.0.1', entries }]);
    const timeoutMs = 10_000;
    await rejection(denying.connect(new URL('http://a.test/'), { onAccess, timeoutMs }));
    expect(accesses[1]).toMatchObject({ decision: 'denied', entries });
  });

  it('is told once of a denied header, method or init key', async () => {
    for (const init of [{ headers: { host: 'a' } }, { method: 'TRACE' }, { agent: {} }]) {
      accesses = [];
      await rejection(guard.fetch(server.origin, init, { onAccess }));
      expect(accesses).toMatchObject([{ decision: 'denied' }]);
    }
  });

  it('is told of the hop that is denied after one that was allowed', async () => {
    const start = `http://a.test:${server.port}/?to=${encodeURIComponent('http://bad.test/')}`;
    await rejection(guard.fetch(start, {}, { onAccess }));
    expect(accesses).toMatchObject([
      { host: 'a.test', decision: 'allowed' },
      { host: 'bad.test', decision: 'denied' },
    ]);
  });

  it('is told once of a request that was allowed and failed', async () => {
    const { port } = server;
    await server.close();
    await rejection(guard.fetch(`http://a.test:${port}/`, {}, { onAccess }));
    expect(accesses).toMatchObject([{ host: 'a.test', decision: 'allowed' }]);
  });

  it.each(['127.0.0.1', 'a.test'])('refuses the request to %s by throwing', async (host) => {
    const refusal = new CapabilityError('AUDIT_FAILED', 'the disk is full', 'audit');
    const error = await rejection(
      guard.fetch(
        `http://${host}:${server.port}/`,
        {},
        {
          onAccess: () => {
            throw refusal;
          },
        },
      ),
    );
    expect(error).toBe(refusal);
    expect(server.connections).toBe(0);
  });

  it('is not told of a request that was aborted before it began', async () => {
    await rejection(guard.fetch(server.origin, { signal: AbortSignal.abort() }, { onAccess }));
    expect(accesses).toEqual([]);
  });
});
