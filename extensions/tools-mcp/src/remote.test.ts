import { inCheck, isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import {
  authorizationServer,
  byHand,
  everythingOverHttp,
  type Handler,
  listen,
  sdkServer,
} from './fixtures/http.js';
import { createWorld, type WorldOptions } from './fixtures/world.js';
import type { McpTokenStore } from './index.js';

const MB = 1_000_000;

describe('a remote server', () => {
  const transports = [
    ['streamable HTTP', 'streamableHttp', 'http'],
    ['SSE, found by falling back', 'sse', 'http'],
    ['SSE, as the file says', 'sse', 'sse'],
  ] as const;
  it.each(inCheck(transports, ([what]) => what === 'streamable HTTP'))(
    'is called over %s',
    async (_name, mode, type) => {
      const url = await everythingOverHttp(mode);
      const world = createWorld({ servers: { everything: { type, url } } });
      expect(await world.bridge.start()).toMatchObject([{ state: 'ready' }]);
      expect(await world.call('mcp__everything__echo', { message: 'far' })).toMatchObject({
        ok: true,
        value: 'Echo: far',
      });
      const name = 'mcp__everything__trigger-long-running-operation';
      expect(await world.call(name, { duration: 1, steps: 2 })).toMatchObject({ ok: true });
      expect(world.events.length).toBeGreaterThan(0);
      // A remote server does not get the folders of this machine.
      expect(world.registry.get('mcp__everything__get-roots-list')).toBeUndefined();
    },
  );

  it.runIf(isLongRun())(
    'changes its list, forgets its session, and is told when it is left',
    async () => {
      const remote = sdkServer();
      const { origin } = await listen(remote);
      const world = createWorld({ servers: { r: { url: `${origin}/mcp` } } });
      await world.bridge.start();
      expect(world.registry.get('mcp__r__add')).toMatchObject({
        effects: ['write', 'send'],
        capabilities: { network: { allowedHosts: ['127.0.0.1'] } },
      });
      expect(await world.call('mcp__r__add', { a: 1, b: 2 })).toMatchObject({ value: '3' });
      await world.call('mcp__r__more', {});
      await expect
        .poll(() => world.bridge.pending(), { timeout: 600_000 })
        .toMatchObject([{ tool: 'added' }]);
      expect(await world.bridge.accept('r', 'added')).toEqual(['added']);
      expect(world.registry.get('mcp__r__added')).toBeDefined();
      remote.forget();
      expect(await world.call('mcp__r__add', { a: 1, b: 2 })).toMatchObject({
        code: 'not_available',
        error: expect.stringContaining('did not run the call'),
      });
      await expect.poll(() => world.bridge.status()[0]?.state, { timeout: 10_000 }).toBe('ready');
      expect(await world.call('mcp__r__add', { a: 2, b: 2 })).toMatchObject({ value: '4' });
      expect(remote.runs()).toBe(2);
      await world.bridge.close();
      expect(remote.sessions()).toBe(0);
    },
  );

  it('that has forgotten its session is connected again', async () => {
    const remote = sdkServer();
    const { origin } = await listen(remote);
    const world = createWorld({ servers: { r: { url: `${origin}/mcp` } } });
    await world.bridge.start();
    remote.forget();
    const add = () => world.call('mcp__r__add', { a: 1, b: 2 });
    expect(await add()).toMatchObject({
      code: 'not_available',
      error: expect.stringContaining('did not run the call'),
    });
    expect(await add()).toMatchObject({ value: '3' });
    expect(remote.runs()).toBe(1);
  });

  it('that is gone fails plainly', async () => {
    const remote = await listen(sdkServer());
    const world = createWorld({ servers: { r: { url: `${remote.origin}/mcp` } } });
    await world.bridge.start();
    remote.close();
    expect(await world.call('mcp__r__add', { a: 1, b: 2 })).toMatchObject({
      ok: false,
      error: expect.stringContaining('r '),
    });
    expect(world.bridge.status()[0]?.state).not.toBe('ready');
    expect(await world.call('mcp__r__add', { a: 1, b: 2 })).toMatchObject({
      code: 'not_available',
    });
  });

  it.each([
    ['a host that the personality does not allow', 'http://10.1.2.3/mcp', 'HOST_NOT_ALLOWED'],
    ['a metadata address', 'http://169.254.169.254/mcp', 'HOST_NOT_ALLOWED'],
    ['no url of HTTP', 'ftp://127.0.0.1/mcp', 'not one of http or https'],
    ['a host that is a secret', 'https://${HOST}/mcp', 'a host that is spelt out'],
  ])('at %s is held back', async (_name, url, reason) => {
    const world = createWorld({ servers: { r: { url } } });
    expect(await world.bridge.start()).toMatchObject([
      { state: 'held', reason: expect.stringContaining(reason) },
    ]);
  });

  it('gets its headers with secrets in them, and a redirect elsewhere does not', async () => {
    const elsewhere: unknown[] = [];
    const other = await listen((request, response) => {
      elsewhere.push(request.headers);
      response.writeHead(404).end();
    });
    const inner = sdkServer();
    const keys: unknown[] = [];
    const { origin } = await listen((request, response) => {
      keys.push(request.headers['x-key']);
      if (request.url === '/moved') {
        response.writeHead(307, { location: `${other.origin}/mcp` }).end();
        return;
      }
      return inner(request, response);
    });
    const headers = { 'X-Key': 'Key ${API_KEY}' };
    const world = createWorld({
      servers: { r: { url: `${origin}/mcp`, headers }, m: { url: `${origin}/moved`, headers } },
      secrets: { 'mcp/r/API_KEY': 'k-123456', 'mcp/m/API_KEY': 'k-123456' },
      limits: { restartDelayMs: 60_000 },
    });
    const [ready, moved] = await world.bridge.start();
    expect(ready).toMatchObject({ state: 'ready' });
    expect(moved?.state).not.toBe('ready');
    expect(new Set(keys)).toEqual(new Set(['Key k-123456']));
    expect(elsewhere).toEqual([]);
  });

  it('waits for a secret of its headers that is missing', async () => {
    const { origin } = await listen(sdkServer());
    const headers = { Authorization: 'Bearer ${PAT}', 'X-Mode': '${MODE:-fast}' };
    const world = createWorld({ servers: { r: { url: `${origin}/mcp`, headers } } });
    expect(await world.bridge.start()).toMatchObject([
      { state: 'held', reason: expect.stringContaining('mcp/r/PAT') },
    ]);
  });
});

describe('a hostile remote server', () => {
  const endless = (response: Parameters<Handler>[1], piece: string) => {
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more);
    more();
  };
  it.each<[string, string, Handler]>([
    [
      'an endless body',
      'too long',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        endless(response, '['.padEnd(65_536));
      },
    ],
    [
      'an endless event',
      'broke off',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: ');
        endless(response, 'x'.repeat(65_536));
      },
    ],
    [
      'a body nested too deep',
      'nested deeper',
      (_request, response) => {
        const text = '['.repeat(50_000) + ']'.repeat(50_000);
        response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      },
    ],
    [
      'an event nested too deep',
      'broke off',
      (_request, response) => {
        const text = '['.repeat(50_000) + ']'.repeat(50_000);
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${text}\n\n`);
      },
    ],
    [
      'a stream that ends without the answer',
      'broke off',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {}\n\n');
      },
    ],
    [
      'a page',
      'content type',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello</p>');
      },
    ],
    [
      'an error of its own',
      'HTTP 500',
      (_request, response) => {
        response.writeHead(500).end('oops');
      },
    ],
    ['nothing', 'no answer within 1 s', () => {}],
  ])('answers with %s', async (_name, error, onCall) => {
    const { origin } = await listen(byHand(onCall));
    const callTimeoutMs = error === 'no answer within 1 s' ? 1_000 : 20_000;
    const world = createWorld({
      servers: { r: { url: `${origin}/mcp` } },
      limits: { maxMessageChars: 4 * MB, callTimeoutMs },
    });
    expect(await world.bridge.start()).toMatchObject([{ state: 'ready' }]);
    const before = process.memoryUsage().rss;
    const result = await world.call('mcp__r__go', {});
    expect(result).toMatchObject({ ok: false, error: expect.stringContaining(error) });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MB);
  });
});

describe('a server that wants an authorization', () => {
  const memoryTokens = (): McpTokenStore & { kept: Map<string, string> } => {
    const kept = new Map<string, string>();
    return {
      kept,
      get: async (key) => kept.get(key) ?? null,
      set: async (key, value) => void kept.set(key, value),
      delete: async (key) => void kept.delete(key),
    };
  };

  async function protectedWorld({
    headers = { 'X-Team': 'blue' },
    ...options
  }: Partial<WorldOptions> & { headers?: Record<string, string> } = {}) {
    const auth = await authorizationServer();
    // After a call of its tool `more`, the server takes no tokens.
    const inner = sdkServer(auth.forget);
    const { origin } = await listen((request, response) => {
      if (request.url === '/.well-known/oauth-protected-resource/mcp') {
        const metadata = { resource: `${origin}/mcp`, authorization_servers: [auth.origin] };
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(metadata));
        return;
      }
      const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
      if (auth.accessTokens.has(token)) return inner(request, response);
      const where = `${origin}/.well-known/oauth-protected-resource/mcp`;
      response
        .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${where}"` })
        .end('no');
    });
    const asked: [string, string | undefined][] = [];
    const tokens = memoryTokens();
    const worldWith = (sent: Record<string, string>) =>
      createWorld({
        servers: { r: { url: `${origin}/mcp`, headers: sent } },
        tokens,
        redirectUrl: 'http://127.0.0.1:9/callback',
        onAuthorize: (url, { personality }) => void asked.push([url, personality]),
        ...options,
      });
    return { auth, asked, tokens, worldWith, world: worldWith(headers) };
  }

  /** A world whose server the user has authorized for the personality `a`. */
  async function authorizedWorld(options: Partial<WorldOptions> = {}) {
    const all = await protectedWorld(options);
    await all.world.bridge.start('a');
    const answer = all.auth.consent(all.asked[0]?.[0] ?? '');
    const finish = () => all.world.bridge.finishAuthorization('r', 'a', answer.code, answer.state);
    expect(await finish()).toMatchObject({ state: 'ready' });
    return { ...all, finish };
  }

  it('is authorized with a code that is taken once, and nothing of it is kept', async () => {
    const { tokens, finish, world } = await authorizedWorld();
    expect([...tokens.kept.keys()].sort()).toEqual([
      'mcp-oauth/r/a/client',
      'mcp-oauth/r/a/tokens',
    ]);
    await expect(finish()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await world.bridge.close();
    expect(world.scopes.length).toBeGreaterThan(2);
    expect(world.scopes.filter(({ signal }) => !signal.aborted)).toEqual([]);
  });

  it('and has its own header for it does not ask the user', async () => {
    const { asked, world } = await protectedWorld({ headers: { Authorization: 'Bearer wrong' } });
    expect(await world.bridge.start('a')).toMatchObject([
      { state: 'held', reason: expect.stringContaining('HTTP 401') },
    ]);
    expect(asked).toEqual([]);
  });

  it('and has changed since it was accepted gets no tokens', async () => {
    const { auth, asked, world, worldWith } = await protectedWorld({ pins: memoryTokens() });
    await world.bridge.start('a');
    const { code, state } = auth.consent(asked[0]?.[0] ?? '');
    const changed = worldWith({ 'X-Team': 'red' });
    await expect(changed.bridge.finishAuthorization('r', 'a', code, state)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('changed since it was accepted'),
    });
    expect(auth.seenPaths).not.toContain('/token');
  });

  // A server that counts as lost would be started again at once, and ask the user once more.
  const limits = { restartDelayMs: 3_600_000, maxRestartDelayMs: 3_600_000 };
  const waits = { state: 'held', reason: expect.stringContaining('until the user has authorized') };

  it('again waits for the user, and has not run the call', async () => {
    const { auth, asked, world } = await authorizedWorld({ limits });
    auth.forget();
    const result = await world.call('mcp__r__add', { a: 1, b: 2 }, { personalityId: 'a' });
    expect(result).toMatchObject({
      code: 'not_available',
      error: expect.stringContaining('the user has to authorize it first'),
    });
    expect(world.bridge.status()).toMatchObject([waits]);
    expect(asked).toHaveLength(2);
  });

  it('again when it has changed its list waits for the user', async () => {
    const { asked, world } = await authorizedWorld({ limits });
    await world.call('mcp__r__more', {}, { personalityId: 'a' });
    await expect.poll(() => world.bridge.status()[0]?.state, { timeout: 60_000 }).not.toBe('ready');
    expect(world.bridge.status()).toMatchObject([waits]);
    expect(asked).toHaveLength(2);
  });

  it('is held back with the reason by a host that has no place for tokens', async () => {
    const auth = await listen((_request, response) => void response.writeHead(401).end());
    const world = createWorld({ servers: { r: { url: `${auth.origin}/mcp` } } });
    expect(await world.bridge.start()).toMatchObject([
      { state: 'held', reason: expect.stringContaining('wants an authorization (HTTP 401)') },
    ]);
  });

  it.runIf(isLongRun())(
    'is authorized once for each personality, and its tokens are renewed',
    async () => {
      const { auth, asked, tokens, world } = await protectedWorld();
      expect(await world.bridge.start('a')).toMatchObject([
        { state: 'held', reason: expect.stringContaining('until the user has authorized it') },
      ]);
      const [url, personality] = asked[0] ?? ['', undefined];
      expect(personality).toBe('a');
      expect(url).toContain(`${auth.origin}/authorize`);
      const { code, state } = auth.consent(url);
      await expect(
        world.bridge.finishAuthorization('r', 'a', code, 'forged'),
      ).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
      });
      expect(await world.bridge.finishAuthorization('r', 'a', code, state)).toMatchObject({
        state: 'ready',
        tools: expect.arrayContaining(['mcp__r__add']),
      });
      const as = { personalityId: 'a' };
      expect(await world.call('mcp__r__add', { a: 1, b: 2 }, as)).toMatchObject({ value: '3' });

      // Another personality does not get these tokens.
      expect(await world.call('mcp__r__add', { a: 1, b: 2 }, { personalityId: 'b' })).toMatchObject(
        {
          code: 'not_available',
        },
      );
      expect(asked.at(-1)?.[1]).toBe('b');
      expect([...tokens.kept.keys()].filter((key) => key.endsWith('/tokens'))).toEqual([
        'mcp-oauth/r/a/tokens',
      ]);

      // The access token expires, and the refresh token gives a new one.
      auth.accessTokens.clear();
      expect(await world.call('mcp__r__add', { a: 2, b: 2 }, as)).toMatchObject({ value: '4' });
      expect(asked).toHaveLength(2);
      // The headers of the file go to the server only, not to the authorization server.
      expect(auth.seenHeaders.filter((headers) => 'x-team' in headers)).toEqual([]);
    },
  );

  it('at a host that is not declared is held back, and names the host', async () => {
    const { origin } = await listen((request, response) => {
      if (request.url !== '/.well-known/oauth-protected-resource/mcp') {
        response.writeHead(401).end();
        return;
      }
      const metadata = { resource: `${origin}/mcp`, authorization_servers: ['http://login.test'] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
    });
    const world = createWorld({
      servers: { r: { url: `${origin}/mcp` } },
      tokens: memoryTokens(),
      redirectUrl: 'http://127.0.0.1:9/callback',
      onAuthorize: () => {},
    });
    expect(await world.bridge.start()).toMatchObject([
      { state: 'held', reason: expect.stringMatching(/HOST_NOT_ALLOWED.*login\.test/) },
    ]);
  });

  it.each([
    ['a code that was never given out', 'r', 'a', 'NETWORK_FAILED'],
    ['a server that there is not', 'x', 'a', 'CONFIG_INVALID'],
    ['a personality that does not wait', 'r', 'b', 'CONFIG_INVALID'],
  ])('refuses %s', async (_name, server, personality, code) => {
    const { auth, asked, world } = await protectedWorld();
    await world.bridge.start('a');
    const { state } = auth.consent(asked[0]?.[0] ?? '');
    await expect(
      world.bridge.finishAuthorization(server, personality, 'no-code', state),
    ).rejects.toMatchObject({ code, message: expect.not.stringContaining('no-code') });
    expect(world.scopes.filter(({ signal }) => !signal.aborted)).toEqual([]);
  });

  it('refuses a code without the state that went with it', async () => {
    const { auth, asked, world } = await protectedWorld();
    await world.bridge.start('a');
    const { code } = auth.consent(asked[0]?.[0] ?? '');
    await expect(world.bridge.finishAuthorization('r', 'a', code)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  it('does not get tokens of a server that had its name', async () => {
    const { auth, asked, tokens, world } = await protectedWorld();
    await world.bridge.start('a');
    const { code, state } = auth.consent(asked[0]?.[0] ?? '');
    await world.bridge.finishAuthorization('r', 'a', code, state);
    const seen: unknown[] = [];
    const thief = await listen((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(401).end();
    });
    const second = createWorld({
      servers: { r: { url: `${thief.origin}/mcp` } },
      tokens,
      redirectUrl: 'http://127.0.0.1:9/callback',
      onAuthorize: () => {},
    });
    await second.bridge.start('a');
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((header) => header !== undefined)).toEqual([]);
  });
});
