import { pipeline, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { CapabilityError } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NetworkAccess, NetworkSpending } from './hop.js';
import { createNetworkGuard, type NetworkGuard } from './network-guard.js';
import { type LoopbackServer, rejection, startServer } from './testing/loopback.js';

let server: LoopbackServer;
let guard: NetworkGuard;
let spent: Record<NetworkSpending, number>;
let accesses: NetworkAccess[];
const BODY = 'hello '.repeat(50_000);

const onAccess = (access: NetworkAccess) => accesses.push(access);
type Amounts = Partial<Record<NetworkSpending, number>>;
const onSpend = ({ requests = 0, bytes_in = 0, bytes_out = 0 }: Amounts) => {
  spent.requests += requests;
  spent.bytes_in += bytes_in;
  spent.bytes_out += bytes_out;
};

beforeEach(async () => {
  spent = { requests: 0, bytes_in: 0, bytes_out: 0 };
  accesses = [];
  server = await startServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const to = searchParams.get('to');
    if (to) response.writeHead(307, { location: to }).end();
    else if (pathname === '/echo') response.end(Buffer.concat(chunks));
    else if (pathname === '/gzip') {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(BODY));
    } else if (pathname === '/small') response.end('hello');
    else if (pathname === '/endless') {
      const body = new Readable({
        read() {
          this.push(BODY);
        },
      });
      pipeline(body, response, () => {});
    } else response.end(BODY);
  });
  guard = createNetworkGuard({
    allowedHosts: ['127.0.0.1', 'bad.test'],
    lookup: async () => [{ address: '10.0.0.1' }],
  });
});
afterEach(async () => {
  await guard.close();
  await server.close();
});

const get = (path: string, init: RequestInit = {}, options: object = {}) =>
  guard.fetch(server.origin + path, init, { onAccess, onSpend, ...options });

function quota(what: NetworkSpending, cap: number) {
  return (amounts: Amounts) => {
    if (spent[what] + (amounts[what] ?? 0) > cap) {
      throw new CapabilityError('QUOTA_EXCEEDED', 'no more', `quota ${what}`);
    }
    onSpend(amounts);
  };
}

describe('onSpend', () => {
  it.each<[string, number, RequestInit?]>([
    ['/', BODY.length],
    ['/gzip', BODY.length],
    ['/small', 5],
    ['/small', 5, { integrity: 'sha256-LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=' }],
    ['/', 0, { method: 'HEAD' }],
  ])('is told of the bytes of %s, decoded, once: %i %j', async (path, bytes, init = {}) => {
    await (await get(path, init)).text();
    expect(spent.bytes_in).toBe(bytes);
    expect(spent.requests).toBe(1);
  });

  it('is told of every hop', async () => {
    await (await get(`/?to=${encodeURIComponent('/?to=/small')}`)).text();
    expect(spent.requests).toBe(3);
  });

  it.each<[string, () => NonNullable<RequestInit['body']> | null, number]>([
    ['a text', () => 'grüße', 7],
    ['bytes', () => new Uint8Array(9), 9],
    ['a Blob', () => new Blob(['x'.repeat(11)]), 11],
    ['URLSearchParams', () => new URLSearchParams({ a: 'ü' }), 8],
    ['a stream', () => new Blob(['x'.repeat(70_000)]).stream(), 70_000],
    ['nothing', () => null, 0],
  ])('is told of the bytes that go out with %s', async (_name, body, bytes) => {
    const headers = { 'x-a': '12345' };
    const url = `${server.origin}/small`;
    const init = { method: 'POST', headers, body: body(), duplex: 'half' as const };
    await (await get('/small', init)).text();
    const line = 'POST'.length + url.length;
    expect(spent.bytes_out).toBe(line + 'x-a'.length + 5 + 4 + bytes);
  });

  it('is told of a form with its boundaries', async () => {
    const body = new FormData();
    body.append('a', 'x'.repeat(1000));
    await (await get('/small', { method: 'POST', body })).text();
    expect(spent.bytes_out).toBeGreaterThan(1100);
  });

  it.each<[string, () => URLSearchParams | FormData]>([
    ['URLSearchParams', () => new URLSearchParams({ a: 'b' })],
    [
      'FormData',
      () => {
        const body = new FormData();
        body.append('a', 'b');
        return body;
      },
    ],
  ])('is told of %s that grow while they are sent as they were given', async (_name, make) => {
    const body = make();
    const sending = get('/echo', { method: 'POST', body });
    for (let n = 0; n < 20; n++) {
      body.append('more', 'x'.repeat(10_000));
      await Promise.resolve();
    }
    const text = await (await sending).text();
    expect(text).toContain('b');
    expect(text.length).toBeLessThan(1000);
  });

  it.each<[string, unknown, string | undefined]>([
    ['bytes', Buffer.from('hi'), 'hi'],
    ['text', 'grüße', 'grüße'],
    ['an ArrayBuffer', new Uint8Array([104, 105]).buffer, 'hi'],
    ['a view', new DataView(new Uint8Array([0, 104, 105]).buffer, 1), 'hi'],
    ['a number', 5, undefined],
    ['an object', {}, undefined],
    ['null', null, undefined],
  ])('counts %s that an iterable gives, or refuses what is neither', async (_name, chunk, sent) => {
    const body = {
      async *[Symbol.asyncIterator]() {
        yield chunk;
      },
    };
    const init: RequestInit = { method: 'POST' };
    Object.assign(init, { body, duplex: 'half' });
    const answer = get('/echo', init).then((response) => response.text());
    if (sent !== undefined) {
      expect(await answer).toBe(sent);
      const line = `POST${server.origin}/echo`.length;
      expect(spent.bytes_out).toBe(line + Buffer.byteLength(sent));
    } else expect(await rejection(answer)).toMatchObject({ code: 'NETWORK_FAILED' });
  });

  it.each<[string, NetworkSpending, number]>([
    ['one request too many', 'requests', 0],
    ['a request too large', 'bytes_out', 20],
  ])('refuses %s before it is connected to, and it is reported once', async (_name, what, cap) => {
    const error = await rejection(get('/small', {}, { onSpend: quota(what, cap) }));
    expect(error).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(accesses).toMatchObject([{ decision: 'denied', rule: `quota ${what}` }]);
    expect(server.connections).toBe(0);
    expect(spent).toEqual({ requests: 0, bytes_in: 0, bytes_out: 0 });
  });

  it('refuses the hop that is one too many', async () => {
    const path = `/?to=${encodeURIComponent('/?to=/small')}`;
    const error = await rejection(get(path, {}, { onSpend: quota('requests', 2) }));
    expect(error).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(accesses.map(({ decision }) => decision)).toEqual(['allowed', 'allowed', 'denied']);
    expect(spent.requests).toBe(2);
  });

  it.each(['/', '/gzip', '/endless'])('ends the body of %s that is too large', async (path) => {
    const cap = 100_000;
    const outcome = get(path, {}, { onSpend: quota('bytes_in', cap) }).then((r) => r.text());
    expect(await rejection(outcome)).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(accesses).toMatchObject([{ decision: 'allowed' }]);
    expect(spent.bytes_in).toBeLessThanOrEqual(cap);
  });

  it('ends a stream that goes out and is too large', async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
    });
    const init: RequestInit = { method: 'POST', body };
    Object.assign(init, { duplex: 'half' });
    const outcome = get('/small', init, { onSpend: quota('bytes_out', 100_000) });
    expect(await rejection(outcome)).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(spent.bytes_out).toBeLessThanOrEqual(100_000);
  });

  it.each([
    ['a host that is not allowed', 'http://evil.example/', {}],
    ['a bad address', 'http://bad.test/', {}],
    ['a header', 'http://127.0.0.1/', { headers: { host: 'x' } }],
  ])('is not told of what is denied for %s', async (_name, url, init) => {
    await rejection(guard.fetch(url, init, { onAccess, onSpend }));
    expect(spent).toEqual({ requests: 0, bytes_in: 0, bytes_out: 0 });
    expect(accesses).toMatchObject([{ decision: 'denied' }]);
  });

  it.each([5, 200_000])(
    'is told of a stubbed fetch, before it is called: %i bytes',
    async (size) => {
      let calls = 0;
      const stubbed = createNetworkGuard({
        allowedHosts: ['a.test'],
        lookup: async () => [{ address: '93.184.215.14' }],
        fetch: async () => {
          calls += 1;
          return new Response('x'.repeat(size));
        },
      });
      const text = await stubbed.fetch('https://a.test/', {}, { onAccess, onSpend });
      await text.text();
      expect(spent).toMatchObject({ requests: 1, bytes_in: size });
      const refused = stubbed.fetch('https://a.test/', {}, { onSpend: quota('requests', 1) });
      expect(await rejection(refused)).toMatchObject({ code: 'QUOTA_EXCEEDED' });
      expect(calls).toBe(1);
    },
  );

  it('is told once of a fetch that leads to that of Node', async () => {
    const wrapping = createNetworkGuard({
      allowedHosts: ['127.0.0.1'],
      fetch: (url, init) => fetch(url, init),
    });
    const response = await wrapping.fetch(`${server.origin}/small`, {}, { onAccess, onSpend });
    await response.text();
    await wrapping.close();
    const bytes_out = `GET${server.origin}/small`.length;
    expect(spent).toEqual({ requests: 1, bytes_in: 5, bytes_out });
    expect(accesses).toMatchObject([{ decision: 'allowed' }]);
  });
});

describe('prepare', () => {
  it('gives what is sent at each hop, from what was given at first', async () => {
    const bodies: unknown[] = [];
    const prepare = async (url: URL, init: RequestInit) => {
      bodies.push(`${url.pathname} ${init.body}`);
      return { ...init, body: 'prepared' };
    };
    const response = await get('/?to=/small', { method: 'POST', body: 'given' }, { prepare });
    expect(await response.text()).toBe('hello');
    expect(bodies).toEqual(['/ given', '/small given']);
  });

  it('denies a hop by throwing, before it is connected to', async () => {
    const prepare = () => {
      throw new CapabilityError('SECRET_NOT_BOUND', 'no', 'not bound');
    };
    const error = await rejection(get('/small', {}, { prepare }));
    expect(error).toMatchObject({ code: 'SECRET_NOT_BOUND' });
    expect(accesses).toMatchObject([{ decision: 'denied', rule: 'not bound' }]);
    expect([server.connections, spent.requests]).toEqual([0, 0]);
  });

  it('is not called for what the URL alone denies', async () => {
    let calls = 0;
    const prepare = (_url: URL, init: RequestInit) => {
      calls += 1;
      return init;
    };
    await rejection(guard.fetch('http://evil.example/', {}, { prepare }));
    expect(calls).toBe(0);
  });

  it('does not outlive the request', async () => {
    const prepare = () => new Promise<RequestInit>(() => {});
    const error = await rejection(get('/small', {}, { prepare, timeoutMs: 20 }));
    expect(error).toMatchObject({ code: 'NETWORK_TIMEOUT' });
  });
});
