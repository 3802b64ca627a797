import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { ToolContext } from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fuzz } from '../../fuzz.js';
import { type CountingServer, startServer } from '../fetch/fetch-world.js';
import { type CreateRegistry, ok } from '../registry/batch.js';
import { ENCODERS, encoding, hasLeaked, secretValue, stringsIn } from './encoders.js';
import { runCall } from './secret-world.js';

interface Seen {
  host: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

const SECRET = 'sk-live/4f+9Z "q\u00fc\\ 0123456789';

/** Forbidden places for a handle, each with its request. */
const WRONG_PLACES: Record<string, (handle: string, port: number) => [url: string, RequestInit?]> =
  {
    'a header to another host': (k, port) => [`http://other.test:${port}/`, { headers: { k } }],
    'Basic credentials to another host': (k, port) => [
      `http://other.test:${port}/`,
      { headers: { authorization: `Basic ${Buffer.from(`:${k}`).toString('base64')}` } },
    ],
    'a body to another host': (body, port) => [
      `http://other.test:${port}/`,
      { method: 'POST', body },
    ],
    'bytes to another host': (k, port) => [
      `http://other.test:${port}/`,
      { method: 'POST', body: Buffer.from(k) },
    ],
    'a form to another host': (k, port) => [
      `http://other.test:${port}/`,
      { method: 'POST', body: new URLSearchParams({ k }) },
    ],
    'the path of a URL': (k, port) => [`http://api.test:${port}/${k}`],
    'the query of a URL': (k, port) => [`http://api.test:${port}/?k=${k}`],
    'a name below the host': (k, port) => [`http://${k}.api.test:${port}/`],
  };

/** Attacks that read the value behind a handle, or send it to a forbidden place. */
export function handleAttacks(create: CreateRegistry): void {
  let server: CountingServer;
  let seen: Seen[] = [];
  let answer: (response: ServerResponse) => void = (response) => response.end('fine');

  beforeAll(async () => {
    server = await startServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { headers, url } = request;
      seen.push({ host: headers.host, url, headers, body: Buffer.concat(chunks).toString() });
      answer(response);
    });
  });
  afterAll(() => server.close());
  beforeEach(() => {
    seen = [];
    answer = (response) => response.end('fine');
  });

  const api = (path = '/') => `http://api.test:${server.port}${path}`;
  const run = (value: string, execute: (handle: string, ctx: ToolContext) => Promise<unknown>) =>
    runCall(create, {
      value,
      capabilities: { secrets: [{ ref: 'key', hosts: ['api.test'] }] },
      execute: async (ctx) => execute((await ctx.secretsResolver?.handle('key')) ?? '', ctx),
    });

  /** Sends the handle. Returns what the tool could read of the answer. */
  const probe = async (value: string) => {
    let read: unknown;
    const outcome = await run(value, async (handle, ctx) => {
      const response = await ctx.scopedFetch?.fetch(api(), { headers: { k: handle } });
      const { statusText, url } = response ?? {};
      read = [statusText, url, [...(response?.headers ?? [])], await response?.text()];
      return ok('');
    });
    expect(outcome.result).toEqual(ok(''));
    return stringsIn([read, outcome]);
  };

  it('gets the value where it may go, and to no tool', async () => {
    const outcome = await run(SECRET, async (handle, ctx) => {
      await ctx.scopedFetch?.fetch(api(), { method: 'POST', headers: { k: handle }, body: handle });
      return ok(handle);
    });
    expect(seen).toMatchObject([
      { body: SECRET, headers: { k: Buffer.from(SECRET).toString('latin1') } },
    ]);
    expect(hasLeaked(stringsIn(outcome), SECRET)).toBe(false);
    expect(outcome.result).not.toEqual(ok(''));
  });

  it.each(Object.keys(WRONG_PLACES))('is refused in %s, without a connection', async (place) => {
    const before = server.connections;
    const outcome = await run(SECRET, async (handle, ctx) => {
      const [url, init] = WRONG_PLACES[place]?.(handle, server.port) ?? [''];
      await ctx.scopedFetch?.fetch(url, init);
    });
    expect(outcome.result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^(?:SECRET_NOT_BOUND|HOST_NOT_ALLOWED): /),
    });
    expect(server.connections).toBe(before);
    const fetches = outcome.audit.filter(({ capability }) => capability === 'network');
    expect(fetches).toMatchObject([{ decision: 'denied' }]);
  });

  it.each([301, 302, 303, 307, 308])(
    'is not carried on by a %i to another host',
    async (status) => {
      answer = (response) =>
        response.writeHead(status, { location: `http://other.test:${server.port}/` }).end();
      await run(SECRET, async (handle, ctx) => {
        const init = { method: 'POST', headers: { k: handle }, body: handle };
        await ctx.scopedFetch?.fetch(api(), init).catch(() => {});
        return ok('');
      });
      for (const { host, headers, body } of seen.slice(1)) {
        expect(stringsIn([host, headers, body])).not.toContain(SECRET);
      }
    },
  );

  it.each(Object.keys(ENCODERS).filter((form) => form !== 'raw' && form !== 'JSON'))(
    'is not carried on by a server that redirects to itself in the form of %s',
    async (form) => {
      const path = encodeURI(ENCODERS[form]?.(SECRET) ?? '').replaceAll('%25', '%');
      answer = (response) =>
        response.writeHead(302, { location: `http://other.test:${server.port}/${path}` }).end();
      const outcome = await run(SECRET, async (handle, ctx) => {
        await ctx.scopedFetch?.fetch(api(), { headers: { k: handle } });
      });
      expect(outcome.result).toMatchObject({ error: expect.stringMatching(/^SECRET_NOT_BOUND: /) });
      expect(seen).toHaveLength(1);
    },
  );

  it('is worthless in the next call', async () => {
    let stolen = '';
    await run(SECRET, async (handle) => {
      stolen = handle;
      return ok('');
    });
    await run(SECRET, async (_handle, ctx) => {
      await ctx.scopedFetch?.fetch(api(), { headers: { k: stolen }, method: 'POST', body: stolen });
      return ok('');
    });
    expect(seen).toMatchObject([{ headers: { k: stolen }, body: stolen }]);
  });

  const compressed: Array<[string, (text: string) => Buffer]> = [
    ['', (text) => Buffer.from(text)],
    ['gzip', (text) => gzipSync(text)],
    ['br', (text) => brotliCompressSync(text)],
  ];
  for (const [name, compress] of compressed) {
    it.each(Object.keys(ENCODERS))(
      `is scrubbed from what a server echoes${name && `, ${name}`}, in the form of %s`,
      async (form) => {
        const encoded = ENCODERS[form]?.(SECRET) ?? '';
        const header = Buffer.from(encoded).toString('latin1');
        answer = (response) => {
          response.writeHead(200, `echo ${header}`, {
            'x-echo': header,
            'set-cookie': [`a=${header}`, 'b=c'],
            ...(name && { 'content-encoding': name }),
          });
          response.end(compress(`before ${encoded} after`));
        };
        const read = await probe(SECRET);
        expect(hasLeaked(read, encoded)).toBe(false);
        expect(hasLeaked(read, header)).toBe(false);
        expect(read).toMatch(/before .*\[secret:key\].* after/s);
        expect(read).toContain('b=c');
      },
    );
  }

  describe('whatever the secret', () => {
    fuzz(
      'it is scrubbed from what a server echoes, in whatever pieces',
      fc.tuple(
        secretValue,
        encoding,
        fc.nat(3_000),
        fc.nat(3_000),
        fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 8 }),
      ),
      async ([secret, { encode }, before, after, pieces]) => {
        const encoded = encode(secret);
        const noise = createHash('sha512').update(secret).digest('base64url');
        const filler = (length: number) => `${noise} `.repeat(50).slice(0, length);
        const bytes = Buffer.from(`${filler(before)} ${encoded} ${filler(after)}`);
        answer = (response) => {
          let from = 0;
          for (const piece of pieces) {
            response.write(bytes.subarray(from, from + piece));
            from += piece;
          }
          response.end(bytes.subarray(from));
        };
        const read = await probe(secret);
        expect(hasLeaked(read, encoded)).toBe(false);
        expect(read).toContain(filler(before));
        expect(read).toContain(filler(after));
      },
      { promised: 'secrets', runs: { check: 10, nightly: 600, long: 5_000 } },
    );
  });
}
