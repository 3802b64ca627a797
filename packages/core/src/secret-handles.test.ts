import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { MemoryAuditSink } from '@ethosagent/audit';
import {
  type AuditEvent,
  errorCodeOf,
  type SecretDeclaration,
  type ToolContext,
} from '@ethosagent/types';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CallScope } from './call-scope.js';
import { SecretBindings } from './capabilities/secret-bindings.js';
import { ScopedFetchImpl } from './scoped/scoped-fetch.js';
import { ScopedSecretsImpl } from './scoped/scoped-secrets.js';
import { makeTool, ok, rejection, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const SECRET = 'sk-live/4f+9Z "qü\\';
const bytesOf = (text: string) => Buffer.from(text);

interface Seen {
  host: string | undefined;
  url: string | undefined;
  headers: Record<string, unknown>;
  body: string;
}

let server: Server;
let port: number;
let connections = 0;
let seen: Seen[] = [];
/** Gives the server's answer. */
let answer: (response: ServerResponse, request: Seen) => void;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { url, headers } = request;
    const one = { host: headers.host, url, headers, body };
    seen.push(one);
    answer(response, one);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  server.closeAllConnections();
  connections = 0;
  seen = [];
  asked = [];
  events = new MemoryAuditSink();
  answer = (response) => response.end('fine');
});

const toPublic = async () => [{ address: '93.184.216.34' }];

let asked: string[] = [];
let events = new MemoryAuditSink();

const api = (path = '/') => `http://api.test:${port}${path}`;
const other = (path = '/') => `http://other.test:${port}${path}`;

/** Runs a tool that may reach `*.test`. Returns its result. */
function run(
  execute: (ctx: ToolContext & { handle: string }) => Promise<string>,
  options: {
    secrets?: SecretDeclaration[];
    hosts?: string[];
    value?: string | (() => Promise<string>);
    ref?: string;
    allow?: string[];
  } = {},
) {
  const registry = new DefaultToolRegistry({
    personalityNetworkAllow: options.allow ?? ['*.test'],
    lookup: async () => [{ address: '127.0.0.1' }],
    secretsBackend: async (ref) => {
      asked.push(ref);
      const { value = SECRET } = options;
      return typeof value === 'string' ? value : value();
    },
    audit: events,
  });
  registry.register(
    makeTool(
      'tool',
      async (_args, ctx) => {
        const handle = (await ctx.secretsResolver?.handle(options.ref ?? 'key')) ?? '';
        return ok(await execute({ ...ctx, handle }));
      },
      {
        capabilities: {
          network: { allowedHosts: options.hosts ?? ['*.test'] },
          secrets: options.secrets ?? [{ ref: 'key', hosts: ['api.test'] }],
        },
        timeoutMs: 10_000,
      },
    ),
  );
  return runOne(registry, 'tool', {}, { networkPolicy: { allow_private_urls: true } });
}

const fetched = async (ctx: ToolContext, url: string, init?: RequestInit) => {
  const response = await ctx.scopedFetch?.fetch(url, init);
  return (await response?.text()) ?? '';
};

const lines = () =>
  events.events.map(
    ({ capability, operation, target, decision, reason }: AuditEvent) =>
      `${capability} ${operation} ${target} ${decision}: ${reason}`,
  );

const failed = (code: string) => ({
  ok: false,
  code: 'execution_failed',
  error: expect.stringMatching(new RegExp(`^${code}: `)),
  cause: code,
});

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const latin1 = (text: string) => Buffer.from(text).toString('latin1');

describe('a handle, sent to a host that its secret is bound to', () => {
  it.each<[string, (handle: string) => RequestInit, Partial<Seen>]>([
    [
      'in a header',
      (handle) => ({ headers: { authorization: `Bearer ${handle}` } }),
      { headers: { authorization: `Bearer ${latin1(SECRET)}` } },
    ],
    [
      'twice in a header',
      (handle) => ({ headers: { 'x-key': `${handle},${handle}` } }),
      { headers: { 'x-key': `${latin1(SECRET)},${latin1(SECRET)}` } },
    ],
    [
      'in Basic credentials',
      (handle) => ({ headers: { Authorization: basic(`user:${handle}`) } }),
      { headers: { authorization: basic(`user:${SECRET}`) } },
    ],
    [
      'in a text',
      (handle) => ({ method: 'POST', body: `key=${handle};` }),
      { body: `key=${SECRET};` },
    ],
    [
      'in JSON',
      (handle) => ({
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify({ key: handle }),
      }),
      { body: JSON.stringify({ key: SECRET }) },
    ],
    [
      'in a form as text',
      (handle) => ({
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `a=1&key=${handle}`,
      }),
      { body: `a=1&${new URLSearchParams({ key: SECRET })}` },
    ],
    [
      'in URLSearchParams',
      (handle) => ({ method: 'POST', body: new URLSearchParams({ key: handle, a: '1' }) }),
      { body: new URLSearchParams({ key: SECRET, a: '1' }).toString() },
    ],
    [
      'in bytes',
      (handle) => ({ method: 'POST', body: bytesOf(`[${handle}]`) }),
      { body: `[${SECRET}]` },
    ],
    [
      'in a buffer',
      (handle) => ({ method: 'POST', body: new Uint8Array(bytesOf(`[${handle}]`)).buffer }),
      { body: `[${SECRET}]` },
    ],
    [
      'in a Blob of JSON',
      (handle) => ({
        method: 'POST',
        body: new Blob([JSON.stringify([handle])], { type: 'application/json' }),
      }),
      { body: JSON.stringify([SECRET]), headers: { 'content-type': 'application/json' } },
    ],
    [
      'with the Content-Length of the placeholder',
      (handle) => ({
        method: 'POST',
        body: handle,
        headers: { 'content-length': String(handle.length) },
      }),
      { body: SECRET, headers: { 'content-length': String(bytesOf(SECRET).length) } },
    ],
  ])('%s is replaced by the value', async (_name, init, expected) => {
    expect(await run((ctx) => fetched(ctx, api(), init(ctx.handle)))).toEqual(ok('fine'));
    expect(seen).toMatchObject([expected]);
    expect(asked).toEqual(['key']);
  });

  it('in a multipart form is replaced, in a field and in a file', async () => {
    await run((ctx) => {
      const body = new FormData();
      body.append('key', ctx.handle);
      body.append('file', new File([`x${ctx.handle}`], 'a.txt', { type: 'text/plain' }));
      body.append('plain', 'p');
      return fetched(ctx, api(), { method: 'POST', body });
    });
    const form = await new Response(seen[0]?.body, {
      headers: { 'content-type': String(seen[0]?.headers['content-type']) },
    }).formData();
    const file = form.get('file');
    expect(form.get('key')).toBe(SECRET);
    expect(form.get('plain')).toBe('p');
    expect(file).toMatchObject({ name: 'a.txt', type: 'text/plain' });
    expect(file instanceof File && (await file.text())).toBe(`x${SECRET}`);
  });

  it('is not found in a stream, which goes out as it is', async () => {
    await run((ctx) => {
      const body = new Blob([ctx.handle]).stream();
      return fetched(ctx, api(), { method: 'POST', body, duplex: 'half' } as RequestInit);
    });
    expect(seen[0]?.body).toMatch(/^ethos-secret-[0-9a-f]{32}$/);
    expect(asked).toEqual([]);
  });

  it('is asked of the backend once a call, when it is needed', async () => {
    const result = await run(async (ctx) => {
      const same = await ctx.secretsResolver?.handle('key');
      const before = asked.length;
      await fetched(ctx, other());
      const unused = asked.length;
      for (let n = 0; n < 2; n++) await fetched(ctx, api(), { headers: { k: ctx.handle } });
      return JSON.stringify([same === ctx.handle, before, unused, asked.length]);
    });
    expect(result).toEqual(ok('[true,0,0,1]'));
  });

  it('is asked again of a backend that failed', async () => {
    let tries = 0;
    const result = await run(
      async (ctx) => {
        const send = () => fetched(ctx, api(), { headers: { k: ctx.handle } });
        const first = await send().catch((error: unknown) => errorCodeOf(error) ?? '');
        return `${first}, ${await send()}`;
      },
      {
        value: () =>
          tries++ === 0 ? Promise.reject(new Error('locked')) : Promise.resolve(SECRET),
      },
    );
    expect(result).toEqual(ok('SECRETS_UNAVAILABLE, fine'));
    expect(seen.map(({ headers }) => headers.k)).toEqual([latin1(SECRET)]);
  });

  it('is followed by the audit trail, which has the ref alone', async () => {
    await run((ctx) => fetched(ctx, api('/a'), { headers: { k: ctx.handle } }));
    expect(lines()).toEqual([
      'secrets handle key allowed: declared as key',
      `network fetch ${api('/a')} allowed: matched *.test`,
      `secrets send key allowed: bound to api.test:${port}`,
    ]);
  });

  it('is replaced on the hops to such hosts, and sent to them again', async () => {
    answer = (response, { url }) =>
      url === '/end' ? response.end('end') : response.writeHead(307, { location: '/end' }).end();
    const init = (handle: string) => ({ method: 'POST', body: handle, headers: { k: handle } });
    expect(await run((ctx) => fetched(ctx, api(), init(ctx.handle)))).toEqual(ok('end'));
    expect(seen.map(({ body, headers }) => [body, headers.k])).toEqual([
      [SECRET, latin1(SECRET)],
      [SECRET, latin1(SECRET)],
    ]);
  });

  it.each([
    ['a line break', 'a\nb'],
    ['a NUL', 'a\0b'],
  ])('does not quote a value with %s, which no header can hold', async (_name, value) => {
    const result = await run(
      async (ctx) => {
        const error = await rejection(fetched(ctx, api(), { headers: { k: `x${ctx.handle}` } }));
        return JSON.stringify([String(error), error instanceof Error && error.cause]);
      },
      { value },
    );
    expect(JSON.stringify(result)).toContain('NETWORK_FAILED: a secret in the header k');
    expect(JSON.stringify(result)).not.toContain('undici');
    expect(seen).toEqual([]);
  });
});

describe('a handle, anywhere else', () => {
  it.each<[string, () => string, (handle: string) => RequestInit, string]>([
    [
      'a header to another host',
      other,
      (k) => ({ headers: { k } }),
      'key is not bound to the host',
    ],
    [
      'Basic credentials to another host',
      other,
      (k) => ({ headers: { authorization: basic(`:${k}`) } }),
      'key is not bound to the host',
    ],
    [
      'a body to another host',
      other,
      (k) => ({ method: 'POST', body: `x${k}` }),
      'key is not bound to the host',
    ],
    [
      'bytes to another host',
      other,
      (k) => ({ method: 'POST', body: bytesOf(k) }),
      'key is not bound to the host',
    ],
    [
      'a form to another host',
      other,
      (k) => {
        const body = new FormData();
        body.append('k', new Blob([k]));
        return { method: 'POST', body };
      },
      'key is not bound to the host',
    ],
  ])('in %s is denied, and there is no connection', async (_name, url, init, rule) => {
    const result = await run((ctx) => fetched(ctx, url(), init(ctx.handle)));
    expect(result).toEqual(failed('SECRET_NOT_BOUND'));
    expect(connections).toBe(0);
    expect(asked).toEqual([]);
    expect(lines()).toEqual([
      'secrets handle key allowed: declared as key',
      `network fetch ${url()} denied: ${rule}`,
    ]);
  });

  it.each<[string, (handle: string) => string]>([
    ['the query', (handle) => api(`/?k=${handle}`)],
    ['the path', (handle) => api(`/${handle}`)],
    ['the host name', (handle) => `http://${handle}.test:${port}/`],
  ])('in %s of a URL is denied', async (_name, url) => {
    const result = await run((ctx) => fetched(ctx, url(ctx.handle)), {
      secrets: [{ ref: 'key', hosts: ['*.test'] }],
    });
    expect(result).toEqual(failed('SECRET_NOT_BOUND'));
    expect([connections, asked]).toEqual([0, []]);
    expect(lines()).toHaveLength(2);
  });

  it.each([307, 308])('is not sent on by a %i to another host', async (status) => {
    answer = (response) => response.writeHead(status, { location: other('/steal') }).end();
    const init = (handle: string) => ({ method: 'POST', body: handle });
    expect(await run((ctx) => fetched(ctx, api(), init(ctx.handle)))).toEqual(
      failed('SECRET_NOT_BOUND'),
    );
    expect(seen.map(({ url }) => url)).toEqual(['/']);
    expect(lines().at(-1)).toBe(
      `network fetch ${other('/steal')} denied: key is not bound to the host`,
    );
  });

  it('drops a header with it at a redirect to another host, as every header', async () => {
    answer = (response, { url }) =>
      url === '/end'
        ? response.end('end')
        : response.writeHead(302, { location: other('/end') }).end();
    const result = await run((ctx) =>
      fetched(ctx, api(), { headers: { authorization: ctx.handle } }),
    );
    expect(result).toEqual(ok('end'));
    expect(seen[1]?.headers).not.toHaveProperty('authorization');
  });

  it('is worthless in another call', async () => {
    let stolen = '';
    await run(async ({ handle }) => {
      stolen = handle;
      return '';
    });
    await run((ctx) => fetched(ctx, api(), { headers: { k: stolen, l: ctx.handle } }));
    expect(seen[0]?.headers).toMatchObject({ k: stolen, l: latin1(SECRET) });
  });

  it('is worthless in another tool’s accessors of the same call', async () => {
    const fetch = new ScopedFetchImpl(new Set([`127.0.0.1:${port}`]));
    await run(async (ctx) => {
      await fetch.fetch(`http://127.0.0.1:${port}/`, { headers: { k: ctx.handle } });
      return '';
    });
    expect(seen[0]?.headers.k).toMatch(/^ethos-secret-/);
  });

  it('is of no use after the call', async () => {
    let late: Promise<unknown> | undefined;
    await run(async (ctx) => {
      late = new Promise((resolve) => setTimeout(resolve, 20)).then(() =>
        rejection(fetched(ctx, api(), { headers: { k: ctx.handle } })),
      );
      return '';
    });
    expect(await late).toMatchObject({ code: 'CALL_ENDED' });
    expect(connections).toBe(0);
  });

  it('tells the tool nothing: neither its text nor the resolver', async () => {
    const result = await run(async (ctx) => {
      await fetched(ctx, api(), { headers: { k: ctx.handle } });
      const own = ctx.secretsResolver ?? {};
      const names = [
        ...Object.keys(own),
        ...Object.getOwnPropertyNames(Object.getPrototypeOf(own)),
      ];
      return `${ctx.handle} ${names} ${JSON.stringify(own)}`;
    });
    expect(result).toMatchObject({
      value: expect.stringMatching(/^ethos-secret-[0-9a-f]{32} constructor,get,handle \{\}$/),
    });
  });
});

describe('a handle over https', () => {
  it.each<[string, RequestInit['body'], string]>([
    ['in the body', undefined, 'http://api.test/next'],
    ['in the Location', 'x', `http://api.test/${encodeURIComponent('sk-live')}`],
  ])('is not taken to http by a redirect, %s', async (_name, body, location) => {
    const hosts = new Set(['api.test']);
    const sent: string[] = [];
    const secrets = new ScopedSecretsImpl(new Set(['key']), async () => 'sk-live', {
      bindings: new SecretBindings(['key'], [...hosts]),
      hosts,
    });
    const scoped = new ScopedFetchImpl(hosts, {
      fetch: async (url) => {
        sent.push(String(url));
        return new Response(null, { status: 307, headers: { location } });
      },
      lookup: toPublic,
      secrets,
    });
    const handle = await secrets.handle('key');
    const init = { method: 'POST', headers: { k: handle }, body: body ?? handle };
    expect(await rejection(scoped.fetch('https://api.test/', init))).toMatchObject({
      code: 'SECRET_NOT_BOUND',
      rule: 'secret over http',
    });
    expect(sent).toEqual(['https://api.test/']);
  });
});

describe('ScopedSecretsImpl.handle', () => {
  it.each<[string, SecretDeclaration[], string[], string[] | undefined]>([
    ['a secret that names hosts', [{ ref: 'a/*', hosts: ['api.test'] }], ['*'], ['api.test']],
    [
      'two declarations of it',
      [
        { ref: 'a/k', hosts: ['a.test'] },
        { ref: 'a/*', hosts: ['b.test'] },
      ],
      ['*.test'],
      ['a.test', 'b.test'],
    ],
    [
      'hosts beyond the reach of the call',
      [{ ref: 'a/k', hosts: ['api.example'] }],
      ['*.test'],
      undefined,
    ],
    [
      'hosts wider than that reach',
      [{ ref: 'a/k', hosts: ['*.test'] }],
      ['api.test'],
      ['api.test'],
    ],
    ['no hosts, with hosts that the tool declares', ['a/k'], ['*.test', '*'], ['*.test']],
    ['no hosts, with `*` alone', ['a/k'], ['*'], undefined],
    ['no hosts, with `*` at a port', ['a/k'], ['*:8080'], undefined],
    ['no hosts, in a tool without a network', ['a/k'], [], undefined],
  ])('of %s: %j, %j', async (_name, declared, networkHosts, hosts) => {
    const reach = networkHosts.includes('*') ? ['*.test'] : networkHosts;
    const bindings = new SecretBindings(declared, networkHosts);
    expect([...bindings.hostsOf('a/k', reach).patterns].sort()).toEqual(hosts ?? []);
    const secrets = new ScopedSecretsImpl(new Set(['a/*']), async () => SECRET, {
      bindings,
      hosts: new Set(reach),
    });
    if (hosts) expect(await secrets.handle('a/k')).toMatch(/^ethos-secret-[0-9a-f]{32}$/);
    else {
      expect(await rejection(secrets.handle('a/k'))).toMatchObject({ code: 'SECRET_NOT_BOUND' });
    }
  });

  it('has its hosts in what an approver is shown', async () => {
    let shown: unknown;
    const registry = new DefaultToolRegistry({
      personalityNetworkAllow: ['api.test', 'b.test'],
      secretsBackend: async () => SECRET,
      approve: ({ capabilities }) => {
        shown = capabilities.secrets;
        return { approved: false };
      },
    });
    const capabilities = {
      network: { allowedHosts: ['*'] },
      secrets: ['plain', { ref: 'a/*', hosts: ['*.test', 'elsewhere.example'] }],
    };
    registry.register(makeTool('tool', () => ok(''), { capabilities, requiresApproval: true }));
    await runOne(registry, 'tool');
    expect(shown).toEqual(['plain', { ref: 'a/*', hosts: ['api.test', 'b.test'] }]);
  });

  it.each([
    ['to hosts out of reach', ['*.test', '127.0.0.1'], 'to *.test, 127.0.0.1, and this call may'],
    ['to no host', ['*'], 'to no host; declare it with the hosts that it is for'],
  ])('of a secret that is bound %s is denied with what to do', async (_name, declared, told) => {
    const secrets = new ScopedSecretsImpl(new Set(['key']), async () => SECRET, {
      bindings: new SecretBindings(['key'], declared),
      hosts: new Set(['other.example']),
    });
    expect(await rejection(secrets.handle('key'))).toMatchObject({
      code: 'SECRET_NOT_BOUND',
      message: expect.stringContaining(`key is bound ${told}`),
    });
  });

  it('of what is not declared is denied', async () => {
    const secrets = new ScopedSecretsImpl(new Set(['a']), async () => SECRET, {
      bindings: new SecretBindings(['a'], ['x.test']),
      hosts: new Set(['x.test']),
    });
    for (const ref of ['b', 'a/b', '../a', '']) {
      expect(await rejection(secrets.handle(ref))).toMatchObject({ code: 'SECRET_NOT_DECLARED' });
    }
  });

  it('does not give the value of a secret that is declared with hosts', async () => {
    const result = await run(async (ctx) => (await ctx.secretsResolver?.get('key')) ?? '');
    expect(result).toEqual(failed('SECRET_NOT_BOUND'));
    expect(asked).toEqual([]);
    expect(lines()).toContain('secrets get key denied: bound to hosts');
  });

  it('beside `get`, where the secret is declared both ways', async () => {
    const secrets = ['key', { ref: 'key', hosts: ['api.test'] }];
    const get = async (ctx: ToolContext) => `${await ctx.secretsResolver?.get('key')}`;
    expect(await run(get, { secrets })).toEqual(ok('[secret:key]'));
    expect(
      await run((ctx) => fetched(ctx, other(), { headers: { k: ctx.handle } }), { secrets }),
    ).toEqual(failed('SECRET_NOT_BOUND'));
  });
});

const ENCODINGS: Record<string, (secret: string) => string> = {
  raw: (secret) => secret,
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64 within more': (secret) => Buffer.from(`{"key":"${secret}"}`).toString('base64'),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  hex: (secret) => Buffer.from(secret).toString('hex'),
  'upper-case hex': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'percent-encoding': (secret) => encodeURIComponent(secret),
  'percent-encoding of each byte': (secret) =>
    Buffer.from(secret).toString('hex').replaceAll(/../g, '%$&'),
  JSON: (secret) => JSON.stringify(secret),
};
const FORMS = Object.keys(ENCODINGS);

/** Whether a text contains the secret, unchanged or encoded. */
function holds(text: string): boolean {
  const decoded = [text, latin1(text), Buffer.from(text, 'latin1').toString()];
  for (const word of text.match(/[\w+/-]{8,}/g) ?? []) {
    decoded.push(Buffer.from(word, 'base64').toString(), Buffer.from(word, 'hex').toString());
  }
  return decoded.some((one) => one.includes('sk-live') || one.includes('4f+9Z'));
}

describe('what comes back after a handle was sent', () => {
  /** Sends the handle. Returns everything that the tool sees of the answer. */
  const probe = (options: { init?: RequestInit; first?: boolean; value?: string } = {}) => {
    let raw = '';
    const result = run(
      async (ctx) => {
        const response = await ctx.scopedFetch?.fetch(api(), {
          headers: { k: ctx.handle },
          ...options.init,
        });
        const { url, statusText } = response ?? {};
        const headers = JSON.stringify([...(response?.headers ?? [])]);
        raw = [url, statusText, headers, await response?.text()].join('\n');
        return '';
      },
      options.value === undefined ? {} : { value: options.value },
    );
    return result.then((settled) => ({ settled, raw }));
  };

  it.each(FORMS)('is scrubbed of %s in the body, at once and byte by byte', async (form) => {
    const text = `before ${ENCODINGS[form]?.(SECRET)} after`;
    answer = (response) => response.end(text);
    const whole = await probe();
    answer = (response) => {
      for (const byte of bytesOf(text)) response.write(Buffer.of(byte));
      response.end();
    };
    const split = await probe();
    for (const { settled, raw } of [whole, split]) {
      expect(settled).toEqual(ok(''));
      expect(holds(text.replaceAll('"', '')) || form === 'percent-encoding of each byte').toBe(
        true,
      );
      expect(holds(raw)).toBe(false);
      expect(raw).toMatch(/\nbefore .*\[secret:key\].* after$/s);
    }
  });

  it.each(FORMS)('is scrubbed of %s in a gzipped body', async (form) => {
    answer = (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync(`before ${ENCODINGS[form]?.(SECRET)} after`));
    };
    const { raw } = await probe();
    expect(holds(raw)).toBe(false);
    expect(raw).toMatch(/\nbefore .*\[secret:key\].* after$/s);
  });

  it.each(FORMS)('is scrubbed of %s in a long body, across its chunks', async (form) => {
    const filler = 'lorem ipsum dolor sit amet, '.repeat(3_000);
    const encoded = ENCODINGS[form]?.(SECRET) ?? '';
    const text = `${filler}${encoded} ${filler}${encoded} ${encoded}`;
    answer = (response) => {
      for (let at = 0; at < text.length; at += 997) response.write(text.slice(at, at + 997));
      response.end();
    };
    const { raw } = await probe();
    expect(holds(raw)).toBe(false);
    expect(raw.split('[secret:key]')).toHaveLength(4);
    expect(raw.split(filler)).toHaveLength(3);
  });

  it('leaves an honest body as it is', async () => {
    const bytes = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, n) => (n * n) % 251));
    answer = (response) => response.end(bytes);
    let isSame = false;
    await run(async (ctx) => {
      const response = await ctx.scopedFetch?.fetch(api(), { headers: { k: ctx.handle } });
      isSame = bytes.equals(Buffer.from((await response?.arrayBuffer()) ?? new ArrayBuffer(0)));
      return '';
    });
    expect(isSame).toBe(true);
  });

  it.each(FORMS)('is scrubbed of %s in headers and the status text', async (form) => {
    const encoded = latin1(ENCODINGS[form]?.(SECRET) ?? '');
    answer = (response) => {
      response.writeHead(200, `fine ${encoded}`, {
        'x-echo': encoded,
        'set-cookie': [encoded, 'a=b'],
      });
      response.end('x');
    };
    const { raw } = await probe();
    expect(holds(raw)).toBe(false);
    expect(raw.split('[secret:key]').length).toBeGreaterThan(3);
    expect(raw).toContain('["set-cookie","a=b"]');
  });

  it('is scrubbed in the Location of a redirect that the tool looks at', async () => {
    answer = (response) =>
      response.writeHead(302, { location: api(`/?k=${encodeURIComponent(SECRET)}`) }).end();
    const { raw } = await probe({ init: { redirect: 'manual' } });
    expect(holds(raw)).toBe(false);
    expect(raw).toContain('[secret:key]');
  });

  it('is scrubbed in the URL of a redirect that was followed', async () => {
    answer = (response, { url }) =>
      url === '/'
        ? response.writeHead(302, { location: api(`/${encodeURIComponent(SECRET)}`) }).end()
        : response.end('end');
    const { raw } = await probe();
    expect(holds(raw)).toBe(false);
    expect(raw).toMatch(/^http:\/\/api.test:\d+\/\[secret:key\]\n/);
    expect(holds(JSON.stringify(events.events))).toBe(false);
  });

  it.each(FORMS.filter((form) => form !== 'raw' && form !== 'JSON'))(
    'is not carried to another host, as %s in a Location',
    async (form) => {
      const path = encodeURI(ENCODINGS[form]?.(SECRET) ?? '').replaceAll('%25', '%');
      answer = (response) => response.writeHead(302, { location: other(`/${path}`) }).end();
      const { settled } = await probe();
      expect(settled).toEqual(failed('SECRET_NOT_BOUND'));
      expect(seen).toHaveLength(1);
    },
  );

  it('is scrubbed in a later request of the call, and another secret too', async () => {
    const result = await run(async (ctx) => {
      await fetched(ctx, api(), { headers: { k: ctx.handle } });
      answer = (response) => response.end(`echo ${SECRET}`);
      const response = await ctx.scopedFetch?.fetch(other());
      return JSON.stringify(await response?.clone().text()) + (await response?.text());
    });
    expect(result).toEqual(ok('"echo [secret:key]"echo [secret:key]'));
  });

  it('is redacted in what the tool gives, wherever it has it from', async () => {
    const result = await run(async (ctx) => {
      await fetched(ctx, api(), { headers: { k: ctx.handle } });
      return `I guessed ${SECRET}`;
    });
    expect(result).toEqual(ok('I guessed [secret:key]'));
  });

  it('has no body where there is none', async () => {
    answer = (response) => response.writeHead(204).end();
    expect((await probe()).settled).toEqual(ok(''));
  });

  it('ends with the call', async () => {
    answer = (response) => response.write('begun'.repeat(1000));
    const journal = { sessionId: 's', personalityId: undefined, audit: undefined, now: Date.now };
    const scope = new CallScope(journal, { toolName: 'tool', toolCallId: 'call' });
    const host = `127.0.0.1:${port}`;
    const hosts = new Set([host]);
    const secrets = new ScopedSecretsImpl(new Set(['key']), async () => SECRET, {
      bindings: new SecretBindings(['key'], [host]),
      hosts,
      scope,
    });
    const fetch = new ScopedFetchImpl(hosts, { scope, secrets });
    const response = await fetch.fetch(`http://${host}/`, {
      headers: { k: await secrets.handle('key') },
    });
    const body = response.text();
    scope.end();
    expect(await rejection(body)).toMatchObject({ code: 'CALL_ENDED' });
  });

  it('is refused when a stubbed fetch gives something else than a Response', async () => {
    const host = 'api.test';
    const secrets = new ScopedSecretsImpl(new Set(['key']), async () => SECRET, {
      bindings: new SecretBindings(['key'], [host]),
      hosts: new Set([host]),
    });
    const stub: typeof fetch = async () =>
      Object.assign(Object.create(null), { ok: true, json: async () => SECRET });
    const scoped = new ScopedFetchImpl(new Set([host]), { fetch: stub, lookup: toPublic, secrets });
    const k = await secrets.handle('key');
    expect(await rejection(scoped.fetch(`https://${host}/`, { headers: { k } }))).toMatchObject({
      code: 'NETWORK_FAILED',
    });
  });

  it('does not say in the cause of an error what a stubbed fetch quotes', async () => {
    const host = 'api.test';
    const secrets = new ScopedSecretsImpl(new Set(['key']), async () => SECRET, {
      bindings: new SecretBindings(['key'], [host]),
      hosts: new Set([host]),
    });
    const stub: typeof fetch = async (_url, init) => {
      throw new TypeError(`can not send ${JSON.stringify([...new Headers(init?.headers)])}`);
    };
    const scoped = new ScopedFetchImpl(new Set([host]), { fetch: stub, lookup: toPublic, secrets });
    const k = await secrets.handle('key');
    const error = await rejection(scoped.fetch(`https://${host}/`, { headers: { k } }));
    expect(error).toMatchObject({ code: 'NETWORK_FAILED', cause: undefined });
  });
});

describe('a response that began before a value was sent', () => {
  /** The accessors of one call on loopback, and a function that ends the answer to `/begun`. */
  function byHand(begin: (response: ServerResponse) => void, value = SECRET) {
    const host = `127.0.0.1:${port}`;
    const hosts = new Set([host, `localhost:${port}`]);
    const secrets = new ScopedSecretsImpl(new Set(['key']), async () => value, {
      bindings: new SecretBindings(['key'], [host]),
      hosts,
    });
    const scoped = new ScopedFetchImpl(hosts, { secrets });
    const begun: ServerResponse[] = [];
    answer = (response, { url }) => {
      if (url !== '/begun') response.end('fine');
      else {
        begun.push(response);
        begin(response);
      }
    };
    const get = (path: string, headers?: Record<string, string>) =>
      scoped.fetch(`http://${host}${path}`, headers ? { headers } : {});
    const sendHandle = async () => (await get('/', { k: await secrets.handle('key') })).text();
    const server = () => begun[0] ?? expect.fail();
    return { secrets, get, sendHandle, server };
  }

  it.each<[string, string, (response: ServerResponse) => unknown, boolean]>([
    ['headers alone, before the first handle', '', (r) => r.flushHeaders(), false],
    ['headers alone, after the first handle', '', (r) => r.flushHeaders(), true],
    ['some of its body, before the first handle', 'begun ', (r) => r.write('begun '), false],
    ['some of its body, after the first handle', 'begun ', (r) => r.write('begun '), true],
  ])('is scrubbed in the rest of it: it had %s', async (_name, start, begin, hasHandle) => {
    const { secrets, get, sendHandle, server } = byHand(begin);
    if (hasHandle) await secrets.handle('key');
    const reader = (await get('/begun')).body?.getReader();
    const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString('latin1');
    // As long as there is nothing to look for, the text is passed on at once.
    if (start) expect(await read()).toBe(start);
    await sendHandle();
    server().end(`${SECRET} ${Buffer.from(SECRET).toString('base64')} end`);
    let rest = '';
    for (let part = await read(); part !== ''; part = await read()) rest += part;
    expect(rest).toBe('[secret:key] [secret:key] end');
  });

  it.each([
    ['an event, ended by LF', 'text/event-stream', 'data: one\n\n', 'data: one\n\n'],
    ['an event, ended by CR LF', 'Text/Event-Stream; x', 'data: one\r\n\r\n', 'data: one\r\n\r\n'],
    ['an event, ended by CR', 'text/event-stream', 'data: one\r\r', 'data: one\r\r'],
    ['a complete event alone', 'text/event-stream', 'data: one\n\ndata', 'data: one\n\n'],
    ['the start of a long body', 'text/plain', 'x'.repeat(100_000), 'x'.repeat(1_000)],
  ])('is passed on before the rest of it comes: %s', async (_name, type, sent, shown) => {
    const { get, sendHandle, server } = byHand((response) => {
      response.setHeader('content-type', type);
      response.write(sent);
    });
    await sendHandle();
    const reader = (await get('/begun')).body?.getReader();
    const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString('latin1');
    let text = '';
    while (text.length < shown.length) text += await read();
    expect(text.startsWith(shown)).toBe(true);
    server().end(` ${SECRET}`);
    for (let part = await read(); part !== ''; part = await read()) text += part;
    expect(text).toBe(`${sent} [secret:key]`);
  });

  it('is scrubbed when the first handle is sent before its headers come', async () => {
    const { get, sendHandle, server } = byHand(() => {});
    const waiting = get('/begun');
    await expect.poll(() => seen.map(({ url }) => url)).toEqual(['/begun']);
    await sendHandle();
    server()
      .writeHead(200, { 'x-echo': latin1(SECRET) })
      .end(SECRET);
    const response = await waiting;
    expect(response.headers.get('x-echo')).toBe('[secret:key]');
    expect(await response.text()).toBe('[secret:key]');
  });

  it('does not carry the value to another place by its redirect', async () => {
    const { get, sendHandle, server } = byHand(() => {});
    const waiting = get('/begun');
    await expect.poll(() => seen.map(({ url }) => url)).toEqual(['/begun']);
    await sendHandle();
    const location = `http://localhost:${port}/${encodeURIComponent(SECRET)}`;
    server().writeHead(302, { location }).end();
    expect(await rejection(waiting)).toMatchObject({ code: 'SECRET_NOT_BOUND' });
  });

  it('has the value in no error of its body', async () => {
    const { get, sendHandle, server } = byHand((response) => response.write('begun'));
    const response = await get('/begun');
    await sendHandle();
    server().socket?.write(`no size ${SECRET}\r\n`);
    const error = await rejection(response.text());
    expect(error).toMatchObject({ code: 'NETWORK_FAILED', cause: undefined });
  });

  it('leaves out a header whose name is the value in lower case', async () => {
    const { secrets, get } = byHand(
      (response) => response.setHeader('X-Tok3n-ABC', '1').end('x'),
      'Tok3n-ABC',
    );
    const { headers } = await get('/begun', { k: await secrets.handle('key') });
    expect([...headers.keys()].filter((name) => name.startsWith('x-'))).toEqual([]);
  });
});
