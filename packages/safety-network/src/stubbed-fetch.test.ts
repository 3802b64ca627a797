import { afterEach, describe, expect, it, vi } from 'vitest';
import type { NetworkAccess } from './hop.js';
import { createNetworkGuard } from './network-guard.js';
import { rejection, startServer } from './testing/loopback.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

const guard = createNetworkGuard({
  allowedHosts: ['api.github.com', '*.example.com'],
  lookup: async () => [{ address: '93.184.215.14' }],
});

function stub(answer: (url: string) => unknown) {
  const fetch = vi.fn(async (url: string, _init: RequestInit) => answer(url));
  vi.stubGlobal('fetch', fetch);
  return fetch;
}

describe('NetworkGuard.fetch with a stubbed global fetch', () => {
  it('calls it with the URL and an init of its own', async () => {
    const fetch = stub(() => new Response('ok', { status: 201, headers: { 'x-a': 'b' } }));
    const body = '{"a":1}';
    const { signal } = new AbortController();
    const response = await guard.fetch('https://api.github.com/repos?a=b', {
      method: 'POST',
      body,
      signal,
    });
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(fetch).toHaveBeenCalledWith(
      'https://api.github.com/repos?a=b',
      expect.objectContaining({
        method: 'POST',
        body,
        redirect: 'manual',
        dispatcher: expect.objectContaining({ dispatch: expect.any(Function) }),
        signal,
      }),
    );
    expect(response.status).toBe(201);
    expect(response.headers.get('x-a')).toBe('b');
    expect(response.url).toBe('https://api.github.com/repos?a=b');
    expect(await response.clone().text()).toBe('ok');
    expect(await response.text()).toBe('ok');
  });

  it('is looked up at each call', async () => {
    stub(() => new Response('first'));
    expect(await (await guard.fetch('https://api.github.com/')).text()).toBe('first');
    stub(() => Response.json({ second: true }));
    expect(await (await guard.fetch('https://api.github.com/')).json()).toEqual({ second: true });
  });

  it('is not called for a denied host, also not by a redirect', async () => {
    const fetch = stub(() => Response.redirect('https://evil.com/', 302));
    await expect(guard.fetch('https://evil.com/')).rejects.toThrow(
      'HOST_NOT_ALLOWED: evil.com is not in the declared allowedHosts',
    );
    expect(fetch).not.toHaveBeenCalled();
    await expect(guard.fetch('https://api.github.com/')).rejects.toThrow(
      'HOST_NOT_ALLOWED: a redirect led to evil.com, which is not in the declared allowedHosts',
    );
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it.each(['file:///etc/passwd', 'data:text/plain,a', 'javascript:a'])(
    'is not called for %s, and the denial says where the redirect led',
    async (location) => {
      const fetch = stub(() => new Response(null, { status: 302, headers: { location } }));
      const scheme = new URL(location).protocol;
      await expect(guard.fetch('https://api.github.com/')).rejects.toThrow(
        `HOST_NOT_ALLOWED: a redirect led to a ${scheme} address: ${scheme} is not allowed`,
      );
      expect(fetch).toHaveBeenCalledTimes(1);
    },
  );

  it('needs no network: what has no address leads nowhere', async () => {
    const fetch = stub((url) =>
      url === 'https://api.invalid/'
        ? Response.redirect('https://other.invalid/', 302)
        : new Response('ok'),
    );
    const plain = createNetworkGuard({ allowedHosts: ['*.invalid'] });
    expect(await (await plain.fetch('https://api.invalid/')).text()).toBe('ok');
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it('is not called for a name to which the system gives a bad address', async () => {
    const fetch = stub(() => new Response('ok'));
    vi.doMock('node:dns/promises', () => ({ lookup: async () => [{ address: '10.0.0.1' }] }));
    const plain = createNetworkGuard({ allowedHosts: ['*'] });
    const error = await rejection(plain.fetch('https://rebound.example/'));
    vi.doUnmock('node:dns/promises');
    expect(error).toMatchObject({ code: 'HOST_NOT_ALLOWED', rule: 'address floor: private' });
    expect(fetch).not.toHaveBeenCalled();
  });

  it('is called for each hop of a redirect', async () => {
    const fetch = stub((url) =>
      url.endsWith('/end')
        ? new Response('ok')
        : Response.redirect('https://a.example.com/end', 302),
    );
    const response = await guard.fetch('https://api.github.com/');
    expect(fetch.mock.calls.map(([url]) => url)).toEqual([
      'https://api.github.com/',
      'https://a.example.com/end',
    ]);
    expect(response).toMatchObject({ redirected: true, url: 'https://a.example.com/end' });
  });

  it('may return one response many times', async () => {
    const answer = new Response('ok', { status: 203 });
    stub(() => answer);
    const urls = ['https://api.github.com/', 'https://a.example.com/', 'https://b.example.com/'];
    const responses = await Promise.all(urls.map((url) => guard.fetch(url)));
    expect(responses.map(({ status }) => status)).toEqual([203, 203, 203]);
    expect(await responses[1]?.text()).toBe('ok');
    expect((await guard.fetch('https://api.github.com/')).status).toBe(203);
  });

  it('may return a plain object', async () => {
    const answer = { ok: true, status: 200, json: async () => ({ a: 1 }) };
    stub(() => answer);
    expect(await guard.fetch('https://api.github.com/')).toBe(answer);
  });

  it.each([204, 304])('may return %i, which has no body', async (status) => {
    stub(() => new Response(null, { status }));
    expect((await guard.fetch('https://api.github.com/')).status).toBe(status);
  });

  it('is held to the size, the time and the signal', async () => {
    const endless = () =>
      new Response(
        new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }),
      );
    const silent = () => new Response(new ReadableStream({}));
    const url = 'https://api.github.com/';
    stub(endless);
    const large = guard.fetch(url, {}, { maxBodyBytes: 1_000_000 });
    expect(await rejection(large.then((r) => r.text()))).toMatchObject({ code: 'BODY_TOO_LARGE' });
    stub(silent);
    const slow = guard.fetch(url, {}, { timeoutMs: 50 });
    expect(await rejection(slow.then((r) => r.text()))).toMatchObject({ code: 'NETWORK_TIMEOUT' });
    const controller = new AbortController();
    const aborted = await guard.fetch(url, { signal: controller.signal });
    controller.abort();
    expect(await rejection(aborted.text())).toMatchObject({ name: 'AbortError' });
    stub(() => new Promise(() => {}));
    const hanging = rejection(guard.fetch(url, {}, { timeoutMs: 50 }));
    expect(await hanging).toMatchObject({ code: 'NETWORK_TIMEOUT' });
  });

  it('that fails is a failure of the network', async () => {
    stub(() => {
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error(), { code: 'ECONNRESET' }),
      });
    });
    const error = await rejection(guard.fetch('https://api.github.com/'));
    expect(error).toMatchObject({ code: 'NETWORK_FAILED' });
    expect(String(error)).toContain('ECONNRESET');
  });

  it.each([undefined, null, 'text'])(
    'that returns %j is a failure of the network',
    async (answer) => {
      stub(() => answer);
      const onAccess = vi.fn();
      const error = await rejection(guard.fetch('https://api.github.com/', {}, { onAccess }));
      expect(error).toMatchObject({ code: 'NETWORK_FAILED' });
      expect(onAccess).toHaveBeenCalledTimes(1);
    },
  );

  it('is told of with each access once', async () => {
    stub(() => new Response('ok'));
    const accesses: NetworkAccess[] = [];
    await guard.fetch(
      'https://api.github.com/a?b',
      {},
      { onAccess: (access) => accesses.push(access) },
    );
    expect(accesses).toEqual([
      {
        url: 'https://api.github.com/a',
        host: 'api.github.com',
        decision: 'allowed',
        rule: 'api.github.com',
        entries: { covers: 'api.github.com' },
      },
    ]);
  });

  it('may read, copy and change what it gets from the fetch of Node', async () => {
    const original = globalThis.fetch;
    const server = await startServer((request, response) => {
      if (request.url === '/chunked') response.write('a'.repeat(100_000));
      response.end('a'.repeat(100_000));
    });
    const guarded = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      const response = await original(url, init);
      const logged = await response.clone().text();
      expect(logged).toMatch(/^a{100000,}$/);
      return new Response(logged.replaceAll('a', 'b'));
    });
    for (const path of ['/', '/chunked']) {
      const text = await (await guarded.fetch(server.origin + path)).text();
      expect(text).toMatch(/^b{100000,}$/);
    }
    await guarded.close();
    await server.close();
  });

  it('can be one of the guard’s own', async () => {
    const global = stub(() => new Response('global'));
    const own = vi.fn(async () => new Response('own'));
    const lookup = async () => [{ address: '93.184.215.14' }];
    const guarded = createNetworkGuard({ allowedHosts: ['a.test'], fetch: own, lookup });
    expect(await (await guarded.fetch('http://a.test/')).text()).toBe('own');
    expect(own).toHaveBeenCalledTimes(1);
    expect(global).not.toHaveBeenCalled();
  });
});
