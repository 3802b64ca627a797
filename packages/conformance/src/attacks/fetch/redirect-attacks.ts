import type { ScopedFetch } from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzz } from '../../fuzz.js';
import { IPV4_EMBEDDINGS, IPV4_SPELLINGS } from './addresses.js';
import {
  type AttackedFetch,
  type CountingServer,
  type CreateFetch,
  isDenied,
  rejection,
  startCanary,
  startServer,
  toLoopback,
} from './fetch-world.js';

interface Seen {
  host: string | undefined;
  method: string | undefined;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

const STATUSES = [301, 302, 303, 307, 308];
const SPELLINGS = { ...IPV4_SPELLINGS, ...IPV4_EMBEDDINGS };

/** Attacks with redirects out of the policy. Honest ones must be followed as `fetch` does. */
export function redirectAttacks(create: CreateFetch): void {
  let server: CountingServer;
  let canary: CountingServer;
  let attacked: AttackedFetch;
  let scopedFetch: ScopedFetch;
  let seen: Seen[] = [];

  /** `/<status>?to=<url>` redirects. Any other path is the end. */
  beforeAll(async () => {
    canary = await startCanary();
    server = await startServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method, headers, url = '' } = request;
      const body = Buffer.concat(chunks).toString();
      seen.push({ host: headers.host, method, headers, body });
      const { pathname, searchParams } = new URL(url, 'http://x');
      const location = searchParams.get('to');
      const status = Number(pathname.slice(1));
      if (!status) response.end('the end');
      else if (location === null) response.writeHead(status).end('no place');
      else {
        response.writeHead(status, { location: Buffer.from(location).toString('latin1') });
        response.end('moved');
      }
    });
    const hosts = [`a.test:${server.port}`, `b.test:${server.port}`];
    const policy = { allow: hosts, allow_private_urls: true };
    attacked = await create({ allowedHosts: hosts, policy, lookup: toLoopback });
    scopedFetch = attacked.scopedFetch;
  });
  afterAll(async () => {
    await attacked.close?.();
    await server.close();
    await canary.close();
  });

  const at = (host: string, path: string) => `http://${host}:${server.port}${path}`;
  const hop = (status: number, to: string, host = 'a.test') =>
    at(host, `/${status}?to=${encodeURIComponent(to)}`);

  it.each<[string, () => string]>([
    ['another host', () => `http://canary.test:${canary.port}/`],
    ['another port', () => `http://a.test:${canary.port}/`],
    ['an address', () => `http://127.0.0.1:${canary.port}/`],
    ['an address without a scheme', () => `//127.0.0.1:${canary.port}/`],
    ['the host of a user name', () => `http://a.test:${server.port}@127.0.0.1:${canary.port}/`],
    ['a metadata service', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a file', () => 'file:///etc/passwd'],
    ['data', () => 'data:text/plain,x'],
    ['another port service', () => 'http://a.test:6379/'],
    ...Object.entries(SPELLINGS).map(([name, spell]): [string, () => string] => [
      `this machine, ${name}`,
      () => `http://${spell([127, 0, 0, 1])}:${canary.port}/`,
    ]),
  ])('refuses a redirect to %s', async (_name, to) => {
    for (const status of STATUSES) {
      seen = [];
      const fetching = scopedFetch.fetch(hop(status, to()));
      expect(await rejection(fetching)).toEqual(isDenied);
      expect(seen).toHaveLength(1);
      expect(canary.connections).toBe(0);
    }
  });

  it.each(['http://', 'http://[', 'http://a b/', 'http://a:99999/'])(
    'fails for a malformed Location: %j',
    async (to) => {
      expect(await rejection(scopedFetch.fetch(hop(302, to)))).toMatchObject({
        code: 'NETWORK_FAILED',
      });
    },
  );

  it('follows five redirects and no more', async () => {
    const chain = (length: number) => {
      let url = '/end';
      for (let n = 0; n < length; n += 1) url = `/302?to=${encodeURIComponent(url)}`;
      return scopedFetch.fetch(at('a.test', url));
    };
    expect(await (await chain(5)).text()).toBe('the end');
    expect(await rejection(chain(6))).toMatchObject({ code: 'TOO_MANY_REDIRECTS' });
    expect(await rejection(scopedFetch.fetch(at('a.test', '/302?to=')))).toMatchObject({
      code: 'TOO_MANY_REDIRECTS',
    });
  });

  it.each([300, 304, 305, 306, 399])('takes a %i for an answer', async (status) => {
    seen = [];
    const response = await scopedFetch.fetch(hop(status, `http://127.0.0.1:${canary.port}/`));
    expect(response.status).toBe(status);
    expect(seen).toHaveLength(1);
    expect(canary.connections).toBe(0);
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', 'body'],
    [308, 'POST', 'POST', 'body'],
    [301, 'PUT', 'PUT', 'body'],
    [302, 'PATCH', 'PATCH', 'body'],
    [303, 'HEAD', 'HEAD', ''],
    [302, 'GET', 'GET', ''],
  ])('a %i of a %s goes on as %s', async (status, method, becomes, body) => {
    seen = [];
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const headers = hasBody ? { 'content-type': 'text/plain' } : {};
    await scopedFetch.fetch(hop(status, '/end'), {
      method,
      headers,
      ...(hasBody && { body: 'body' }),
    });
    expect(seen[1]).toMatchObject({ method: becomes, body });
    if (body === '') expect(seen[1]?.headers).not.toHaveProperty('content-type');
  });

  it.each(STATUSES)('a %i to another host drops what may be a credential', async (status) => {
    seen = [];
    const headers = {
      authorization: 'Bearer x',
      cookie: 'a=b',
      'x-api-key': 'x',
      'x-anything': 'x',
      'accept-language': 'de',
      accept: 'text/plain',
      'user-agent': 'mine',
    };
    await scopedFetch.fetch(hop(status, at('b.test', '/end')), { headers });
    expect(seen.map(({ host }) => host)).toEqual(
      ['a.test', 'b.test'].map((h) => `${h}:${server.port}`),
    );
    expect(seen[0]?.headers).toMatchObject(headers);
    const { authorization, cookie, 'x-api-key': key, 'x-anything': other, ...kept } = headers;
    expect(seen[1]?.headers).toMatchObject(kept);
    for (const name of ['authorization', 'cookie', 'x-api-key', 'x-anything']) {
      expect(seen[1]?.headers).not.toHaveProperty(name);
    }
  });

  describe('whatever the chain', () => {
    const chain = fc.record({
      hops: fc.array(
        fc.record({
          status: fc.constantFrom(...STATUSES),
          host: fc.constantFrom('a.test', 'b.test', 'A.TEST', 'b.test.', 'a%2Etest'),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      target: fc.constantFrom(
        'canary.test',
        'a.test',
        'sub.a.test',
        ...Object.values(SPELLINGS).map((spell) => spell([127, 0, 0, 1])),
        '[::1]',
        'localhost',
      ),
      isRelative: fc.boolean(),
      method: fc.constantFrom('GET', 'POST', 'PUT'),
    });
    fuzz(
      'it does not lead out of the policy',
      chain,
      async ({ hops, target, isRelative, method }) => {
        const before = canary.connections;
        let url = `${isRelative ? '' : 'http:'}//${target}:${canary.port}/`;
        for (const { status, host } of hops.toReversed()) url = hop(status, url, host);
        const body = method === 'GET' ? {} : { body: 'x' };
        const fetching = scopedFetch.fetch(url, { method, ...body });
        expect(await rejection(fetching)).toEqual(isDenied);
        expect(canary.connections).toBe(before);
      },
      { promised: 'network', runs: { check: 10, nightly: 400, long: 25_000 } },
    );
  });
}
