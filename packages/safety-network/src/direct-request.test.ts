import { gzipSync } from 'node:zlib';
import { errorCodeOf } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { directRequest } from './direct-request.js';
import { createNetworkGuard, type NetworkGuard } from './network-guard.js';
import { type LoopbackServer, startTcpServer } from './testing/loopback.js';

const plain: [string, RequestInit | undefined][] = [
  ['nothing', undefined],
  ['HEAD', { method: 'HEAD' }],
  ['POST without a body', { method: 'POST' }],
  ['DELETE without a body', { method: 'DELETE' }],
  ['OPTIONS', { method: 'OPTIONS' }],
  ['text', { method: 'POST', body: '{"ä":"€"}' }],
  ['half a character', { method: 'POST', body: '\ud83d' }],
  ['empty text', { method: 'PUT', body: '' }],
  ['text of a type', { method: 'PATCH', body: 'x', headers: { 'Content-Type': 'a/b' } }],
  ['a null body', { body: null, signal: null }],
  ['a signal', { signal: new AbortController().signal }],
  [
    'headers twice',
    {
      headers: [
        ['x-a', '1'],
        ['X-A', '2'],
        ['cookie', 'x=1'],
      ],
    },
  ],
  ['a header of Latin-1', { headers: { 'x-a': 'é ÿ' } }],
  ['an empty header', { headers: { 'x-a': '' } }],
  ['a header that is a name of objects', { headers: { constructor: 'b' } }],
  [
    'those that fetch adds',
    {
      headers: {
        accept: 'a/b',
        'accept-language': 'de',
        'user-agent': 'u',
        'accept-encoding': 'br',
      },
    },
  ],
  ['of a cache', { headers: { 'cache-control': 'no-cache', pragma: 'x' } }],
  ['of a page', { headers: { origin: 'https://a.test', referer: 'https://a.test/x' } }],
  ['credentials', { headers: { authorization: 'Bearer a' } }],
];

const left: [string, RequestInit, string?][] = [
  ['a method in small letters', { method: 'get' }],
  ['another method', { method: 'PURGE' }],
  ['bytes', { method: 'POST', body: new Uint8Array([1, 2]) }],
  ['a form', { method: 'POST', body: new URLSearchParams({ a: 'b' }) }],
  ['a long text', { method: 'POST', body: 'é'.repeat(5_000) }],
  ['a body of GET', { body: 'x' }],
  ['a body of HEAD', { method: 'HEAD', body: '' }],
  ['a cache', JSON.parse('{"cache":"no-store"}')],
  ['a referrer', { referrer: '' }],
  ['an integrity', { integrity: 'sha256-x' }],
  ['a range', { headers: { Range: 'bytes=0-1' } }],
  ['a condition', { headers: { 'If-None-Match': '"a"' } }],
  ['a length', { method: 'POST', body: 'ab', headers: { 'Content-Length': '9' } }],
  ['a mode', { headers: { 'Sec-Fetch-Mode': 'navigate' } }],
  ['a port of mail', {}, 'http://a.test:25/'],
  ['the last port that is refused', {}, 'http://a.test:10080/'],
  ['an empty query', {}, 'http://a.test/?'],
  ['a user', {}, 'http://user@a.test/'],
  ['a password', {}, 'http://:secret@a.test/'],
];

describe('directRequest', () => {
  it.each(plain)('knows a request with %s', (_, init = {}) => {
    for (const url of ['http://a.test/', 'https://a.test/', 'http://a.test:10081/']) {
      expect(directRequest(new URL(url), init)).toBeDefined();
    }
  });

  it.each(left)('leaves one with %s to fetch', (_, init, url = 'http://a.test/') => {
    expect(directRequest(new URL(url), init)).toBeUndefined();
  });

  it('leaves an invalid signal to fetch, which refuses it', () => {
    const init = Object.assign({}, { signal: new EventTarget() as AbortSignal });
    expect(directRequest(new URL('http://a.test/'), init)).toBeUndefined();
  });

  it('asks for what fetch can decode', async () => {
    for (const url of ['http://a.test/', 'https://a.test/']) {
      let asked: unknown;
      const dispatcher = {
        dispatch(options: { headers: unknown }) {
          asked = options.headers;
          throw new Error('far enough');
        },
      };
      const init: RequestInit = {};
      Object.assign(init, { dispatcher });
      await fetch(url, init).catch(() => {});
      const encodings = (headers: unknown) =>
        new Map(pairs(headers)).get('accept-encoding')?.split(', ') ?? [];
      const wanted = encodings(directRequest(new URL(url), {})?.headers);
      expect(wanted).toContain('gzip');
      // Node 26 also asks for zstd.
      expect(encodings(asked)).toEqual(expect.arrayContaining(wanted));
    }
  });
});

/** Returns the pairs of a list of names and values in turn, or of one of pairs, or of an object. */
function pairs(headers: unknown): [string, string][] {
  if (!Array.isArray(headers)) {
    const entries = headers as Record<string, string> | Iterable<{ name: string; value: string }>;
    if (!(Symbol.iterator in entries)) return Object.entries(entries);
    return Array.from(entries as Iterable<[string, string]>);
  }
  return headers.flatMap((name: string, at) =>
    at % 2 === 0 ? [[name, String(headers[at + 1])] as [string, string]] : [],
  );
}

let server: LoopbackServer;
let guard: NetworkGuard;
let answer: string | Buffer = '';
let cut: number | undefined;
let received = '';

beforeAll(async () => {
  server = await startTcpServer((socket) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (head < 0 || text.length < head + 4 + length) return;
      received = text;
      const bytes = Buffer.from(answer as string, 'latin1');
      if (cut === undefined) socket.end(bytes);
      else socket.write(bytes.subarray(0, cut), () => socket.end(bytes.subarray(cut)));
    });
  });
  guard = createNetworkGuard({
    allowedHosts: ['127.0.0.1'],
    policy: {
      allow: ['127.0.0.1'],
      allow_private_urls: true,
    },
  });
});
afterAll(async () => {
  await guard.close();
  await server.close();
});

type Fetch = (url: string, init: RequestInit) => Promise<Response>;
const viaGuard: Fetch = (url, init) => guard.fetch(url, init);
/** As `viaGuard`, but with `fetch`: only that knows what a referrer means. */
const viaFetch: Fetch = (url, init) => guard.fetch(url, { ...init, referrer: '' });

/** The lines of a request in the order of their names, and its body. */
async function sentBy(send: Fetch, init: RequestInit): Promise<unknown> {
  const response = await send(`${server.origin}/a%20b?q=ü#part`, init);
  await response.arrayBuffer();
  const [head = '', body] = received.split('\r\n\r\n');
  const [first, ...lines] = head.split('\r\n');
  const named = lines.map((line) => line.replace(/^[^:]*/, (name) => name.toLowerCase()));
  return { first, lines: named.sort(), body };
}

describe('a request that is sent without fetch', () => {
  it.each(plain)('is what fetch sends: %s', async (_, init = {}) => {
    answer = 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n';
    cut = undefined;
    expect(await sentBy(viaGuard, init)).toEqual(await sentBy(fetch, init));
  });
});

const ok = 'HTTP/1.1 200 OK\r\nconnection: close\r\n';
const zipped = gzipSync('hello '.repeat(9)).toString('latin1');
const answers: [string, string, string?][] = [
  ['a body', `${ok}content-type: text/plain\r\ncontent-length: 5\r\n\r\nhello`],
  ['an empty body', `${ok}content-length: 0\r\n\r\n`],
  ['a body up to the end', `${ok}\r\nhello`],
  ['no body at all', `${ok}\r\n`],
  [
    'a body in chunks',
    `${ok}transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nx-t: 1\r\n\r\n`,
  ],
  ['a long body', `${ok}content-length: 300000\r\n\r\n${'x'.repeat(300_000)}`],
  ['a long body up to the end', `${ok}\r\n${'x'.repeat(300_000)}`],
  [
    'an encoded body',
    `${ok}content-encoding: gzip\r\ncontent-length: ${zipped.length}\r\n\r\n${zipped}`,
  ],
  ['an encoded body up to the end', `${ok}content-encoding: gzip\r\n\r\n${zipped}`],
  ['an encoded body that is cut off', `${ok}content-encoding: gzip\r\n\r\n${zipped.slice(0, -9)}`],
  ['an encoding that is unknown', `${ok}content-encoding: rot13\r\n\r\nuryyb`],
  ['an encoding without a name', `${ok}content-encoding:\r\n\r\nhello`],
  [
    'an encoded body of a failure',
    `HTTP/1.1 500 X\r\nconnection: close\r\ncontent-encoding: gzip\r\n\r\n${zipped}`,
  ],
  ['cookies', `${ok}set-cookie: a=1\r\nSet-Cookie: b=2\r\nx: 1\r\nx: 2\r\n\r\n`],
  ['Latin-1', `${ok}x-a: \xe9\xff\r\n\r\n\xe9`],
  ['a status that is not official', 'HTTP/1.1 999 Request denied\r\nconnection: close\r\n\r\nno'],
  [
    'a long body of such a status',
    `HTTP/1.1 999 No\r\nconnection: close\r\n\r\n${'x'.repeat(99_000)}`,
  ],
  ['a text of the status that is odd', 'HTTP/1.1 404 N\xf6\t\r\nconnection: close\r\n\r\nno'],
  ['a text of a status that is not text', 'HTTP/1.1 200 O\x7fK\r\nconnection: close\r\n\r\nyes'],
  ['no text of the status', 'HTTP/1.1 404\r\nconnection: close\r\n\r\nno'],
  ['an answer of a proxy', 'HTTP/1.1 407 Proxy\r\nconnection: close\r\n\r\nno'],
  ['no content', 'HTTP/1.1 204 No\r\nconnection: close\r\nx: 1\r\n\r\n'],
  ['content to reset', 'HTTP/1.1 205 Reset\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'],
  ['what was not modified', 'HTTP/1.1 304 Not\r\nconnection: close\r\ncontent-length: 9\r\n\r\n'],
  [
    'a redirect',
    'HTTP/1.1 302 Found\r\nconnection: close\r\nlocation: /\xc3\xa9\r\ncontent-length: 2\r\n\r\nno',
  ],
  [
    'an encoded redirect',
    `HTTP/1.1 302 Found\r\nconnection: close\r\nlocation: /\r\ncontent-encoding: gzip\r\n\r\n${zipped}`,
  ],
  ['hints before it', `HTTP/1.1 103 Early\r\nlink: </a>\r\n\r\n${ok}content-length: 1\r\n\r\nx`],
  ['a body that is too short', `${ok}content-length: 9\r\n\r\nhello`],
  ['chunks that are cut off', `${ok}transfer-encoding: chunked\r\n\r\n3\r\nhe`],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nx'],
  ['nothing', ''],
  ['no HTTP', 'hello\r\n\r\n'],
  ['a head that is cut off', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ['a head with NUL', `${ok}x: a\0b\r\n\r\n`],
];

/** What a program can see of an answer. */
async function seen(send: Fetch, method: string): Promise<unknown> {
  try {
    const response = await send(`${server.origin}/`, { method, redirect: 'manual' });
    const { status, statusText, url, redirected, bodyUsed } = response;
    const copy = response.clone();
    const head = {
      ...{ status, statusText, ok: response.ok, url, redirected, bodyUsed },
      ...{ headers: [...response.headers], cookies: response.headers.getSetCookie() },
      ...{ hasBody: response.body !== null, copied: [copy.status, copy.statusText, copy.ok] },
    };
    const texts = await Promise.all([response.text(), copy.text()]).catch(String);
    return { ...head, texts, isUsed: response.bodyUsed };
  } catch (error) {
    return errorCodeOf(error);
  }
}

describe('an answer to a request that was sent without fetch', () => {
  it.each(answers)('is as that of fetch: %s', async (_, text) => {
    answer = text;
    const head = text.indexOf('\r\n\r\n') + 4;
    for (const method of ['GET', 'HEAD']) {
      for (cut of [undefined, 20, head - 2, head, head + 1, text.length - 1]) {
        expect(await seen(viaGuard, method)).toEqual(await seen(viaFetch, method));
      }
    }
  });
});
