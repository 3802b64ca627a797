import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createNetworkGuard, type NetworkGuard } from './network-guard.js';
import {
  type LoopbackServer,
  loopbackLookup,
  rejection,
  startServer,
  until,
} from './testing/loopback.js';

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

/**
 * Redirects `/<status>?to=<url>`, answers `hello` to everything else, and records every request.
 */
async function startRedirector(seen: Seen[]): Promise<LoopbackServer> {
  return startServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    const { pathname, searchParams } = new URL(url ?? '', 'http://x');
    const status = Number(pathname.slice(1));
    if (!status) {
      response.end('hello');
      return;
    }
    const to = searchParams.get('to');
    response.writeHead(status, to === null ? {} : { location: Buffer.from(to).toString('latin1') });
    response.end('moved');
  });
}

let a: LoopbackServer;
let b: LoopbackServer;
let seenByA: Seen[];
let seenByB: Seen[];
let guard: NetworkGuard;

beforeEach(async () => {
  seenByA = [];
  seenByB = [];
  a = await startRedirector(seenByA);
  b = await startRedirector(seenByB);
  guard = createNetworkGuard({
    allowedHosts: ['a.test', 'b.test'],
    policy: { allow: ['*'], deny: ['denied.test'], allow_private_urls: true },
    lookup: loopbackLookup,
  });
});
afterEach(async () => {
  await guard.close();
  await a.close();
  await b.close();
});

const from = (status: number, to?: string) =>
  `http://a.test:${a.port}/${status}${to === undefined ? '' : `?to=${encodeURIComponent(to)}`}`;

describe('NetworkGuard.fetch, redirects', () => {
  it.each([301, 302, 303, 307, 308])(
    'follows %i to an allowed host and says so in the response',
    async (status) => {
      const target = `http://b.test:${b.port}/end?x=1`;
      const response = await guard.fetch(from(status, `${target}#fragment`));
      expect(response.status).toBe(200);
      expect(response.url).toBe(target);
      expect(response.redirected).toBe(true);
      const clone = response.clone();
      expect(clone.url).toBe(target);
      expect(clone.redirected).toBe(true);
      expect(await response.text()).toBe('hello');
      expect(await clone.text()).toBe('hello');
    },
  );

  it.each([
    ['an undeclared host', () => `http://c.test:${b.port}/`],
    ['a denied host', () => `http://denied.test:${b.port}/`],
    ['a private address', () => `http://127.0.0.1:${b.port}/`],
    ['a spelled-out private address', () => `http://0x7f.1:${b.port}/`],
    ['a metadata address', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a file', () => 'file:///etc/passwd'],
    ['data', () => 'data:text/plain,hello'],
    ['a service port', () => 'http://b.test:6379/'],
    ['a user name', () => `http://user:pw@b.test:${b.port}/`],
  ])('denies a redirect to %s, and does not connect', async (_, target) => {
    for (const status of [301, 307]) {
      await expect(guard.fetch(from(status, target()))).rejects.toMatchObject({
        code: 'HOST_NOT_ALLOWED',
      });
    }
    expect(b.connections).toBe(0);
  });

  it('denies a host that the fifth redirect leads to', async () => {
    let url = `http://denied.test:${b.port}/`;
    for (let hop = 0; hop < 5; hop += 1) url = from(302, url);
    await expect(guard.fetch(url)).rejects.toMatchObject({ rule: 'deny list: denied.test' });
    expect(seenByA).toHaveLength(5);
    expect(b.connections).toBe(0);
  });

  it('follows five redirects and no sixth', async () => {
    let url = '/end';
    for (let hop = 0; hop < 5; hop += 1) url = from(302, url);
    expect(await (await guard.fetch(url)).text()).toBe('hello');
    await expect(guard.fetch(from(302, url))).rejects.toMatchObject({ code: 'TOO_MANY_REDIRECTS' });
    for (const maxRedirects of [0, Number.NaN]) {
      await expect(guard.fetch(from(302, '/end'), {}, { maxRedirects })).rejects.toMatchObject({
        code: 'TOO_MANY_REDIRECTS',
      });
    }
  });

  it('ends a redirect loop', async () => {
    const loop = await startServer((_, response) => {
      response.writeHead(302, { location: '/' });
      response.end();
    });
    await expect(guard.fetch(`http://a.test:${loop.port}/`)).rejects.toMatchObject({
      code: 'TOO_MANY_REDIRECTS',
    });
    await loop.close();
  });

  // The method and the body after each redirect, according to the WHATWG fetch standard.
  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [307, 'POST', 'POST', 'body'],
    [308, 'POST', 'POST', 'body'],
    [301, 'PUT', 'PUT', 'body'],
    [302, 'DELETE', 'DELETE', 'body'],
    [303, 'PUT', 'GET', ''],
    [303, 'DELETE', 'GET', ''],
    [307, 'PUT', 'PUT', 'body'],
  ])('after %i turns %s into %s with the body %j', async (status, before, after, body) => {
    const init = {
      method: before,
      body: 'body',
      headers: { 'content-type': 'text/x', 'x-own': '1' },
    };
    await (await guard.fetch(from(status, '/end'), init)).text();
    expect(seenByA[1]).toMatchObject({ method: after, body });
    expect(seenByA[1]?.headers['content-type']).toBe(body === '' ? undefined : 'text/x');
    expect(seenByA[1]?.headers['x-own']).toBe('1');
  });

  it.each([301, 302, 303, 307, 308])('after %i leaves HEAD and GET as they are', async (status) => {
    await guard.fetch(from(status, '/end'), { method: 'HEAD' });
    await (await guard.fetch(from(status, '/end'))).text();
    expect(seenByA.map(({ method }) => method)).toEqual(['HEAD', 'HEAD', 'GET', 'GET']);
  });

  it('takes no header of the caller to another origin but accept* and user-agent', async () => {
    const headers = {
      accept: 'text/x',
      'accept-language': 'de',
      'user-agent': 'mine',
      authorization: 'Bearer secret',
      cookie: 'secret',
      'x-api-key': 'secret',
      referer: 'http://secret.test/',
    };
    await (await guard.fetch(from(307, `http://b.test:${b.port}/`), { headers })).text();
    expect(seenByA[0]?.headers).toMatchObject(headers);
    expect(seenByB[0]?.headers).toMatchObject({
      accept: 'text/x',
      'accept-language': 'de',
      'user-agent': 'mine',
    });
    expect(JSON.stringify(seenByB)).not.toContain('secret');
  });

  it('does not take a header back when a redirect returns to the first origin', async () => {
    const back = `http://b.test:${b.port}/302?to=${encodeURIComponent(`http://a.test:${a.port}/end`)}`;
    await (await guard.fetch(from(302, back), { headers: { 'x-api-key': 'secret' } })).text();
    expect(seenByA[1]?.url).toBe('/end');
    expect(seenByA[1]?.headers['x-api-key']).toBeUndefined();
  });

  it.each([
    ['bytes', () => new TextEncoder().encode('body')],
    ['URLSearchParams', () => new URLSearchParams({ body: '' })],
    ['a Blob', () => new Blob(['body'])],
    [
      'a FormData',
      () => {
        const form = new FormData();
        form.set('body', 'x');
        return form;
      },
    ],
  ])('sends a body of %s a second time', async (_, body) => {
    await (await guard.fetch(from(307, '/end'), { method: 'POST', body: body() })).text();
    expect(seenByA[1]?.method).toBe('POST');
    expect(seenByA[1]?.body).toContain('body');
  });

  it('refuses to send a stream a second time', async () => {
    const stream = () => new Blob(['body']).stream();
    const init = () => ({ method: 'POST', body: stream(), duplex: 'half' as const });
    await expect(guard.fetch(from(307, '/end'), init())).rejects.toMatchObject({
      code: 'NETWORK_FAILED',
    });
    expect(await (await guard.fetch(from(303, '/end'), init())).text()).toBe('hello');
    expect(seenByA[0]?.body).toBe('body');
  });

  it.each(['http://', 'http://a b/', 'http://[::1', '//', 'http://a.test:99999/'])(
    'answers the malformed location %j with NETWORK_FAILED',
    async (location) => {
      await expect(guard.fetch(from(302, location))).rejects.toMatchObject({
        code: 'NETWORK_FAILED',
      });
    },
  );

  it('reads a location that is not ASCII as UTF-8', async () => {
    await (await guard.fetch(from(302, '/ü'))).text();
    expect(seenByA[1]?.url).toBe('/%C3%BC');
  });

  it.each([300, 304, 305, 306])('returns %i as an answer', async (status) => {
    const response = await guard.fetch(from(status, '/end'));
    expect(response.status).toBe(status);
    expect(response.redirected).toBe(false);
  });

  it('returns a redirect without a location as an answer', async () => {
    const response = await guard.fetch(from(302));
    expect(response.status).toBe(302);
    expect(await response.text()).toBe('moved');
  });

  it('returns the redirect itself with redirect: manual', async () => {
    const response = await guard.fetch(from(302, 'http://denied.test/'), { redirect: 'manual' });
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('http://denied.test/');
    await response.body?.cancel();
    expect(seenByA).toHaveLength(1);
  });

  it('fails on a redirect with redirect: error', async () => {
    const error = await rejection(guard.fetch(from(302, '/end'), { redirect: 'error' }));
    expect(error).toMatchObject({ code: 'NETWORK_FAILED' });
    expect(await (await guard.fetch(from(0), { redirect: 'error' })).text()).toBe('hello');
  });

  it('cancels the body of a redirect', async () => {
    const onClose = vi.fn();
    const endless = await startServer((_, response) => {
      response.writeHead(302, { location: `http://a.test:${a.port}/end` });
      response.write('moved');
      response.on('close', onClose);
    });
    const response = await guard.fetch(`http://b.test:${endless.port}/`);
    expect(await response.text()).toBe('hello');
    await until(() => onClose.mock.calls.length > 0);
    await endless.close();
  });
});
