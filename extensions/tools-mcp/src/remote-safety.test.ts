import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { bodyOf, byHand, type Handler, listen } from './fixtures/http.js';
import { createWorld } from './fixtures/world.js';

const pause = () => new Promise((resolve) => setTimeout(resolve, 2));

describe('an event of a remote server', () => {
  const deep = '['.repeat(90);
  it.each<[string, string[]]>([
    ['too long in many lines', Array.from({ length: 40 }, () => `data: "${'a'.repeat(9_000)}",\n`)],
    ['too long in comments', Array.from({ length: 40 }, () => `: ${'a'.repeat(9_000)}\n`)],
    ['nested too deep over many lines', [`data: ${deep}\n`, `data: ${deep}\n`, '\n']],
  ])('that is %s ends the call', async (_name, lines) => {
    const { origin } = await listen(
      byHand(async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const line of lines) {
          if (response.destroyed) return;
          response.write(line);
          await pause();
        }
        // The answer itself would be fine.
        response.write('\ndata: {}\n\n');
      }),
    );
    const world = createWorld({
      servers: { r: { url: `${origin}/mcp` } },
      limits: { maxMessageChars: 200_000, callTimeoutMs: 10_000 },
    });
    await world.bridge.start();
    expect(await world.call('mcp__r__go', {})).toMatchObject({
      ok: false,
      error: expect.stringContaining('broke off'),
    });
  });
});

describe('what a remote server was given', () => {
  const echo: Handler = ({ url, headers }, response) =>
    void response.writeHead(500).end(`you sent ${url} ${headers['x-key']}`);
  const secrets = { 'mcp/r/PATH_KEY': 'path-77777777', 'mcp/r/KEY': 'head-88888888' };
  const servers = (origin: string) => ({
    r: { url: `${origin}/mcp/\${PATH_KEY}`, headers: { 'X-Key': '${KEY}' } },
  });

  it('does not come back in the error of a call', async () => {
    const { origin } = await listen(byHand(echo));
    const world = createWorld({ servers: servers(origin), secrets });
    await world.bridge.start();
    const text = JSON.stringify(await world.call('mcp__r__go', {}));
    expect(text).toContain('you sent');
    expect(text).not.toMatch(/77777777|88888888/);
    expect(text).toContain('may have run');
  });

  it('does not come back in the status', async () => {
    const { origin } = await listen(echo);
    const world = createWorld({ servers: servers(origin), secrets });
    const text = JSON.stringify(await world.bridge.start());
    expect(text).toContain('you sent');
    expect(text).not.toMatch(/77777777|88888888/);
  });
});

describe('a remote server that answers 404', () => {
  it('may have run the call where there was no session', async () => {
    const { origin } = await listen(
      byHand((_request, response) => void response.writeHead(404).end()),
    );
    const world = createWorld({ servers: { r: { url: `${origin}/mcp` } } });
    await world.bridge.start();
    expect(await world.call('mcp__r__go', {})).toMatchObject({
      code: 'execution_failed',
      error: expect.stringContaining('may have run'),
    });
  });
});

describe('a remote server that asks without end', () => {
  it('and takes no answers is left', async () => {
    let waiting = 0;
    const inner = byHand(() => void waiting++);
    const { origin } = await listen(async (request, response) => {
      if (request.method !== 'GET') return inner(request, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let id = 0; id < 200; id++) {
        response.write(`data: {"jsonrpc":"2.0","id":"p${id}","method":"ping"}\n\n`);
      }
    });
    const world = createWorld({
      servers: { r: { url: `${origin}/mcp` } },
      limits: { restartDelayMs: 60_000 },
    });
    await world.bridge.start();
    await expect
      .poll(() => world.bridge.status()[0], { timeout: 600_000 })
      .toMatchObject({ state: 'waiting', reason: expect.stringContaining('takes no answers') });
    expect(waiting).toBeLessThanOrEqual(32);
  });
});

describe('a remote server that pushes an event without end', () => {
  it('is left', async () => {
    const inner = byHand(() => {});
    const { origin } = await listen(async (request, response) => {
      if (request.method !== 'GET') return inner(request, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      while (!response.destroyed) {
        response.write(`data: ${'a'.repeat(60_000)}\n`);
        await pause();
      }
    });
    const world = createWorld({
      servers: { r: { url: `${origin}/mcp` } },
      limits: { restartDelayMs: 60_000, maxMessageChars: 500_000 },
    });
    await world.bridge.start();
    await expect
      .poll(() => world.bridge.status()[0], { timeout: 600_000 })
      .toMatchObject({ state: 'waiting', reason: expect.stringContaining('too long') });
  });
});

describe('a remote server at a host that is not allowed', () => {
  it.each(['http', 'sse'])('is held back over %s', async (type) => {
    const world = createWorld({ servers: { r: { type, url: 'http://10.1.2.3/mcp' } } });
    expect(await world.bridge.start()).toMatchObject([
      { state: 'held', reason: expect.stringContaining('HOST_NOT_ALLOWED') },
    ]);
  });

  it('is held back when it leads there', async () => {
    const { origin } = await listen(
      (_request, response) => void response.writeHead(307, { location: 'http://10.1.2.3/' }).end(),
    );
    const world = createWorld({ servers: { r: { url: `${origin}/mcp` } } });
    expect(await world.bridge.start()).toMatchObject([{ state: 'held' }]);
  });
});

describe('an authorization server', () => {
  /** A server that is its own authorization server, and says where its endpoints are. */
  async function asked(endpoints: Record<string, string>, oauth: object = {}) {
    const state = { issuer: '', echoes: false };
    const posted: string[] = [];
    const shown: string[] = [];
    const kept = new Map<string, string>();
    const { origin } = await listen(async (request, response) => {
      const send = (value: object) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      const body = await bodyOf(request);
      const at = request.url ?? '';
      if (at.startsWith('/.well-known/oauth-protected')) {
        const issuer = state.issuer === '' ? origin : state.issuer;
        return void send({ resource: `${origin}/mcp`, authorization_servers: [issuer] });
      }
      if (at.startsWith('/.well-known/')) {
        return void send({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
          ...endpoints,
        });
      }
      const { authorization } = request.headers;
      if (at === '/mcp' && state.echoes && authorization !== undefined) {
        return void response.writeHead(500).end(`you sent ${authorization}`);
      }
      if (at === '/mcp') return void response.writeHead(401).end();
      posted.push(`${at} ${body}`);
      if (at === '/register') return void send({ ...JSON.parse(body), client_id: 'c' });
      send({ access_token: 'access-1234567', token_type: 'Bearer' });
    });
    const world = createWorld({
      servers: { r: { url: `${origin}/mcp`, oauth } },
      secrets: { 'mcp/r/CS': 'client-secret-1' },
      backends: { personalityNetworkAllow: ['127.0.0.1', 'localhost'] },
      tokens: {
        get: async (key) => kept.get(key) ?? null,
        set: async (key, value) => void kept.set(key, value),
        delete: async (key) => void kept.delete(key),
      },
      redirectUrl: 'http://127.0.0.1:9/callback',
      onAuthorize: (url) => void shown.push(url),
    });
    const [status] = await world.bridge.start();
    return { world, status, posted, shown, kept, origin, state };
  }
  const client = { clientId: 'honest', clientSecret: '${CS}' };

  it.each<[string, Record<string, string>, object]>([
    ['sends the user elsewhere', { authorization_endpoint: 'https://phish.example/' }, {}],
    ['sends the user to another port', { authorization_endpoint: 'http://127.0.0.1:9/' }, {}],
    ['takes codes elsewhere', { token_endpoint: 'http://127.0.0.1:9/token' }, {}],
    ['registers elsewhere', { registration_endpoint: 'http://127.0.0.1:9/register' }, {}],
    ['is not on the hosts of the file', {}, { hosts: ['localhost'] }],
    [
      'is not on the hosts of the file, and sends the user there',
      { authorization_endpoint: 'http://localhost:9/authorize' },
      { hosts: ['localhost'], ...client },
    ],
    [
      'takes codes at a host that is not in the file',
      { token_endpoint: 'http://localhost:9/token' },
      { hosts: ['127.0.0.1'] },
    ],
  ])('that %s is refused before anyone is asked', async (_name, endpoints, oauth) => {
    const { status, posted, shown } = await asked(endpoints, oauth);
    expect(status).toMatchObject({
      state: 'held',
      reason: expect.stringMatching(/HOST_NOT_ALLOWED: .*authorization/),
    });
    expect(shown).toEqual([]);
    expect(posted).toEqual([]);
  });

  it('on the hosts of the file may have its endpoints on any of them', async () => {
    const endpoints = { authorization_endpoint: 'http://localhost:9/authorize' };
    const { shown } = await asked(endpoints, { hosts: ['127.0.0.1', 'localhost'] });
    expect(shown[0]).toContain('http://localhost:9/authorize?');
  });

  it('that takes the place of the one a client belongs to does not get its secret', async () => {
    const { world, posted, shown, kept, state } = await asked({}, client);
    const state1 = new URL(shown[0] ?? '').searchParams.get('state') ?? '';
    await world.bridge.finishAuthorization('r', undefined, 'code-1234', state1);
    expect(posted).toHaveLength(1);
    const other = await asked({}, client);
    state.issuer = other.origin;
    for (const key of kept.keys()) if (key.endsWith('/discovery')) kept.delete(key);
    await world.bridge.stop();
    expect(await world.bridge.start()).toMatchObject([
      { state: 'held', reason: expect.stringContaining('another authorization server') },
    ]);
    expect(other.posted).toEqual([]);
    expect(shown.filter((url) => url.startsWith(other.origin))).toEqual([]);
  });

  it('gives tokens that do not come back in the status', async () => {
    const { world, shown, state } = await asked({});
    state.echoes = true;
    const given = new URL(shown[0] ?? '').searchParams.get('state') ?? '';
    const status = await world.bridge.finishAuthorization('r', undefined, 'code-1234', given);
    expect(status.reason).toContain('you sent Bearer [secret:token]');
  });

  it('that says nothing of itself is asked at its origin, again and again', async () => {
    const shown: string[] = [];
    const kept = new Map<string, string>();
    const { origin } = await listen(({ url, method }, response) => {
      if (url === '/register' && method === 'POST') {
        response.writeHead(201, { 'content-type': 'application/json' });
        return void response.end('{"client_id":"c","redirect_uris":["http://127.0.0.1:9/cb"]}');
      }
      response.writeHead(url === '/mcp' ? 401 : 404).end();
    });
    const world = createWorld({
      servers: { r: { url: `${origin}/mcp` } },
      tokens: {
        get: async (key) => kept.get(key) ?? null,
        set: async (key, value) => void kept.set(key, value),
        delete: async (key) => void kept.delete(key),
      },
      redirectUrl: 'http://127.0.0.1:9/cb',
      onAuthorize: (url) => void shown.push(url),
    });
    await world.bridge.start();
    await world.bridge.start();
    expect(shown.map((url) => url.startsWith(`${origin}/authorize?`))).toEqual([true, true]);
  });
});

describe('a remote server that never ends a connection', () => {
  const stream = 'text/event-stream';
  const late = { ok: false, cause: 'CALL_TIMED_OUT' };
  it.each([
    ['with an answer', stream, [{ type: 'text', text: 'done' }], { ok: true, value: 'done' }],
    ['without an answer', stream, undefined, late],
    ['with half an answer', 'application/json', undefined, late],
  ])('does not keep that of a call %s', async (_name, type, content, expected) => {
    const closed: Promise<unknown>[] = [];
    const { origin } = await listen(
      byHand((_request, response, id) => {
        closed.push(once(response, 'close'));
        response.writeHead(200, { 'content-type': type }).write('\n');
        if (content === undefined) return;
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content } })}\n\n`);
      }),
    );
    const world = createWorld({
      servers: { r: { url: `${origin}/mcp` } },
      limits: { callTimeoutMs: 1_000 },
    });
    await world.bridge.start();
    const calls = [1, 2, 3].map(() => world.call('mcp__r__go', {}));
    expect(await Promise.all(calls)).toMatchObject([expected, expected, expected]);
    expect(closed).toHaveLength(3);
    await Promise.all(closed);
    expect(world.bridge.status()).toMatchObject([{ state: 'ready' }]);
  });
});
