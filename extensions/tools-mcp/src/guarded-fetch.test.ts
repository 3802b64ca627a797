import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type GuardedFetchOptions, guardedFetch } from './guarded-fetch.js';
import { unaskedChars } from './token-bucket.js';

const DEPTH = 5_000;
const deep = `{"jsonrpc":"2.0","method":"x/y","params":{"a":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}}`;
/** Deep for a reader of events, and one text without end for a reader of JSON. */
const quoted = `: "\n\ndata: ${deep}\n\n`;
const shallow = '{"jsonrpc":"2.0","method":"x/y","params":{"a":1}}';

async function listen(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return new URL(`http://127.0.0.1:${port}/mcp`);
}

function fetchFor(
  url: URL,
  onAbuse = (_why: string) => {},
  more: Partial<GuardedFetchOptions> = {},
) {
  return guardedFetch({
    scopedFetch: { fetch: (target, init) => fetch(target, init) },
    origin: url.origin,
    headers: new Map(),
    maxMessageChars: 1_000_000,
    messagesPerSecond: 100,
    unasked: unaskedChars(),
    signal: new AbortController().signal,
    settled: () => new AbortController().signal,
    onBroken: () => {},
    onAbuse,
    onFailed: () => {},
    ...more,
  });
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The messages and the errors of a connection to a server that answers a method with a body. */
async function answers(method: string, type: string, body: string) {
  const url = await listen((request, response) => {
    request.resume();
    if (request.method === method) response.writeHead(200, { 'content-type': type }).end(body);
    else response.writeHead(request.method === 'GET' ? 405 : 202).end();
  });
  const messages: JSONRPCMessage[] = [];
  const errors: unknown[] = [];
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: fetchFor(url, (why) => errors.push(why)),
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
  });
  onTestFinished(() => transport.close());
  transport.onmessage = (message) => messages.push(message);
  transport.onerror = (error) => errors.push(error);
  await transport.start();
  await transport.send(
    method === 'GET'
      ? { jsonrpc: '2.0', method: 'notifications/initialized' }
      : { jsonrpc: '2.0', id: 1, method: 'x' },
  );
  return { messages, errors };
}

describe('guardedFetch', () => {
  it.each([
    ['an answer', 'POST', 'text/event-stream', `data: ${deep}\n\n`],
    ['an answer after two marks', 'POST', 'text/event-stream', `\uFEFF\uFEFFdata: ${deep}\n\n`],
    ['a stream', 'GET', 'text/event-stream', `data: ${deep}\n\n`],
    ['a stream of another type', 'GET', 'application/json', quoted],
    ['an answer with a space in its type', 'POST', '\u00a0text/event-stream', quoted],
  ])('lets no message that nests too deep out of %s', async (_name, method, type, body) => {
    const { messages, errors } = await answers(method, type, body);
    await expect.poll(() => errors).not.toEqual([]);
    expect(messages).toEqual([]);
  });

  it.each([
    ['an answer after two marks', 'POST', `\uFEFF\uFEFFdata: ${shallow}\n\n`],
    ['a stream', 'GET', `data: ${shallow}\n\n`],
  ])('lets another message out of %s', async (_name, method, body) => {
    const { messages } = await answers(method, 'text/event-stream', body);
    await expect.poll(() => messages).toHaveLength(1);
  });

  it('reads the next event when what nobody asked for is paid', async () => {
    const url = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${shallow}\n\n`.repeat(2));
    });
    let asked = 0;
    const unasked = { take: () => (asked++ === 0 ? 0 : 60_000_000) };
    const headers = { accept: 'text/event-stream' };
    const answer = await fetchFor(url, undefined, { unasked })(url, { headers });
    const reader = answer.body?.getReader();
    expect(String((await reader?.read())?.value)).not.toBe('');
    await expect.poll(() => asked).toBe(2);
    await reader?.cancel();
  });

  it('measures what was asked for as JSON as a whole, whatever its type says', async () => {
    const url = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${deep}\n\n`);
    });
    const answer = await fetchFor(url)(url, { headers: { accept: 'application/json' } });
    await expect(answer.text()).rejects.toThrow('nested deeper');
  });

  const url = new URL('https://mcp.test/mcp');

  it('leaves a server that takes no answers, and waits 10 seconds for each', async () => {
    const late = new AbortController();
    const times: number[] = [];
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      times.push(ms);
      return late.signal;
    });
    const abuse: string[] = [];
    const send = fetchFor(url, (why) => abuse.push(why), {
      scopedFetch: {
        fetch: (_target, { signal } = {}) =>
          new Promise((_resolve, reject) => {
            const end = () => reject(new TypeError('too late'));
            if (signal?.aborted) end();
            signal?.addEventListener('abort', end);
          }),
      },
    });
    const answer = () =>
      send(url, { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"result":{}}' });
    const sent = Array.from({ length: 32 }, answer);
    expect(abuse).toEqual([]);
    const oneMore = answer();
    expect(abuse).toHaveLength(1);
    await expect(oneMore).rejects.toMatchObject({ code: 'NETWORK_FAILED' });
    late.abort();
    const settled = await Promise.allSettled(sent);
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(32);
    expect(new Set(times)).toEqual(new Set([10_000]));
    // Those that were given up make room.
    await expect(answer()).rejects.toThrow('too late');
  });

  it('reads the events of a stream no faster than it may', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const events = 'data: {}\n\n'.repeat(12);
    const send = fetchFor(url, () => {}, {
      messagesPerSecond: 1,
      scopedFetch: {
        fetch: async () =>
          new Response(events, { headers: { 'content-type': 'text/event-stream' } }),
      },
    });
    const { body } = await send(url, { headers: { accept: 'text/event-stream' } });
    if (body === null) throw new TypeError('the answer has no body');
    const reader = body.getReader();
    // Ten may come at once.
    for (let at = 0; at < 10; at++) await reader.read();
    let read = 10;
    const rest = [reader.read(), reader.read()].map((event) => event.then(() => read++));
    await vi.advanceTimersByTimeAsync(999);
    expect(read).toBe(10);
    await vi.advanceTimersByTimeAsync(1_001);
    await Promise.all(rest);
    expect(read).toBe(12);
  });
});

it('guardedFetch opens streams that a server ends at once no oftener than may be', async () => {
  let opened = 0;
  let seen = () => {};
  const enough = new Promise<void>((resolve) => {
    seen = () => ++opened === 23 && resolve();
  });
  const url = await listen((request, response) => {
    request.resume();
    if (request.method !== 'GET') return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n');
    seen();
  });
  const before = performance.now();
  const transport = new StreamableHTTPClientTransport(url, { fetch: fetchFor(url) });
  onTestFinished(() => transport.close());
  await transport.start();
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await enough;
  // The first 20 need not wait.
  expect(performance.now() - before).toBeGreaterThanOrEqual(1_500);
});

it.each([401, 403])(
  'guardedFetch ends the requests for new tokens to which a server goes on answering %i',
  async (status) => {
    const url = await listen((request, response) => {
      request.resume();
      response.writeHead(status).end();
    });
    const guarded = fetchFor(url);
    const ask = async () => {
      for (let at = 0; at < 500; at++) {
        await guarded(url, { method: 'POST', body: '{"jsonrpc":"2.0","method":"x"}' });
      }
    };
    await expect(ask()).rejects.toMatchObject({
      code: 'NETWORK_FAILED',
      message: expect.stringContaining('refuses every authorization'),
    });
  },
);
