import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNetworkGuard, type NetworkGuard } from './network-guard.js';
import { type LoopbackServer, startServer } from './testing/loopback.js';

let server: LoopbackServer;
let guard: NetworkGuard;
let headers: NodeJS.Dict<string | string[]>;
let method: string | undefined;
let body: string;

beforeAll(async () => {
  server = await startServer(async (request, response) => {
    ({ headers, method } = request);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    body = Buffer.concat(chunks).toString();
    response.end('hello');
  });
  guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
});
afterAll(async () => {
  await guard.close();
  await server.close();
});

const send = async (init: object) => (await guard.fetch(server.origin, init)).text();

describe('NetworkGuard.fetch, init', () => {
  it.each([
    'Host',
    'host',
    'Connection',
    'Transfer-Encoding',
    'Upgrade',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Expect',
    'HTTP2-Settings',
    'Proxy-Authorization',
    'Proxy-Connection',
    'proxy-x',
  ])('refuses the header %s', async (name) => {
    const before = server.connections;
    for (const given of [
      { [name]: 'x' },
      [[name, 'x']],
      new Headers([
        ['x-a', 'b'],
        [name, 'x'],
      ]),
    ]) {
      await expect(send({ headers: given })).rejects.toMatchObject({
        code: 'HOST_NOT_ALLOWED',
        rule: 'header',
      });
    }
    expect(server.connections).toBe(before);
  });

  it.each(['CONNECT', 'connect', 'TRACE', 'Trace', 'TRACK'])(
    'refuses the method %s',
    async (name) => {
      await expect(send({ method: name })).rejects.toMatchObject({ rule: 'method' });
    },
  );

  it.each(['dispatcher', 'agent', 'client', 'proxy', 'socketPath'])(
    'refuses init.%s',
    async (key) => {
      await expect(send({ [key]: {} })).rejects.toMatchObject({ rule: 'init' });
      expect(await send({ [key]: undefined })).toBe('hello');
    },
  );

  it('reads init once, so that nothing changes between check and use', async () => {
    let reads = 0;
    const init = {
      get headers() {
        reads += 1;
        return reads === 1 ? { 'x-a': 'b' } : { host: 'evil.test' };
      },
    };
    await send(init);
    expect(reads).toBe(1);
    expect(headers).toMatchObject({ host: `127.0.0.1:${server.port}`, 'x-a': 'b' });
  });

  it('sends method, headers and body', async () => {
    await send({
      method: 'post',
      headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
      body: '{"a":1}',
    });
    expect(method).toBe('POST');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer x',
    });
    expect(body).toBe('{"a":1}');
  });

  it('sends a stream', async () => {
    await send({ method: 'PUT', body: new Blob(['hello ', 'there']).stream(), duplex: 'half' });
    expect(body).toBe('hello there');
  });

  it('sends a form', async () => {
    const form = new FormData();
    form.set('a', 'b');
    await send({ method: 'POST', body: form });
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(body).toContain('name="a"');
  });

  it('ignores keys that fetch does not know', async () => {
    expect(await send({ next: { revalidate: 1 }, lookup: () => {} })).toBe('hello');
  });

  it.each([
    ['a header with a line break', { headers: { 'x-a': 'secret\r\nhost: evil.test' } }],
    ['a header name with a space', { headers: { 'x a': 'secret' } }],
    ['GET with a body', { body: 'secret' }],
    ['a method with a space', { method: 'GET /secret HTTP/1.1' }],
  ])('answers %s with NETWORK_FAILED', async (_, init) => {
    const before = server.connections;
    const error: unknown = await send(init).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'NETWORK_FAILED' });
    expect(String(error)).not.toContain('secret');
    expect(server.connections).toBe(before);
  });
});
