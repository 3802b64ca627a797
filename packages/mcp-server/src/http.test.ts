import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tries } from '@ethosagent/test-support';
import type { ToolRuntime } from '@ethosagent/wiring';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { httpTransport, newClient, TOKENS } from './fixtures/connect.js';
import { startRuntime } from './fixtures/start-runtime.js';
import { createWorld, type World } from './fixtures/world.js';
import {
  type McpHttpServer,
  type McpHttpSessionEvent,
  type ServeHttpOptions,
  serveHttp,
} from './index.js';

// Requests without the SDK, as from somebody who is not allowed in, or who breaks off.

let world: World;
let runtime: ToolRuntime;
let server: McpHttpServer;
let events: McpHttpSessionEvent[];
const clients = { ann: { token: TOKENS.ann }, bob: { token: TOKENS.bob } };

async function serve(options: Partial<ServeHttpOptions> = {}, of = runtime): Promise<void> {
  server = await serveHttp(of, {
    clients,
    onSession: (event) => events.push(event),
    ...options,
  });
}

beforeAll(async () => {
  world = createWorld();
  runtime = await startRuntime(world);
});
afterAll(async () => {
  await runtime.close();
  world.remove();
});
beforeEach(() => {
  world.reset();
  events = [];
});
afterEach(() => server?.close());

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | object | undefined;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const ann = bearer(TOKENS.ann);
const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'hand', version: '1' },
  },
};
const call = (id: number, name: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});

function open({ method = 'POST', path, headers = {}, body }: Sent): ClientRequest {
  const url = new URL(server.url);
  const sent = request({
    host: url.hostname,
    port: url.port,
    path: path ?? url.pathname,
    method,
    agent: false,
    headers: {
      Accept: 'application/json, text/event-stream',
      'Content-Type': 'application/json',
      ...headers,
    },
  });
  if (body !== undefined) sent.write(typeof body === 'string' ? body : JSON.stringify(body));
  return sent;
}

async function send(sent: Sent) {
  const outgoing = open(sent);
  outgoing.end();
  const [answer]: [IncomingMessage] = await once(outgoing, 'response').then(([first]) => [first]);
  let text = '';
  for await (const chunk of answer) text += chunk;
  const id = answer.headers['mcp-session-id'];
  return { status: answer.statusCode, text, id: typeof id === 'string' ? id : '' };
}

async function begin(token = TOKENS.ann): Promise<string> {
  const { status, id } = await send({ headers: bearer(token), body: initialize });
  expect(status).toBe(200);
  return id;
}

const inSession = (id: string, token = TOKENS.ann) => ({
  ...bearer(token),
  'Mcp-Session-Id': id,
  'Mcp-Protocol-Version': '2025-06-18',
});

async function began(): Promise<number> {
  await expect.poll(() => world.read('pid')).toBeDefined();
  return Number(world.read('pid'));
}

async function ended(pid: number): Promise<void> {
  const isThere = () => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  await expect.poll(isThere).toBe(false);
  expect(world.read('signal')).toBe('x');
}

describe('a request', () => {
  beforeEach(() => serve());

  it.each([
    ['no token', {}],
    ['an empty token', { Authorization: 'Bearer ' }],
    ['another token', bearer('c'.repeat(40))],
    ['the start of a token', bearer(TOKENS.ann.slice(0, -1))],
    ['a token and more', bearer(`${TOKENS.ann}a`)],
    ['two tokens', bearer(`${TOKENS.ann} ${TOKENS.bob}`)],
    ['another scheme', { Authorization: `Basic ${TOKENS.ann}` }],
  ])('with %s is refused', async (_, headers) => {
    expect((await send({ headers, body: initialize })).status).toBe(401);
    for (const method of ['GET', 'DELETE', 'PUT']) {
      expect((await send({ method, headers })).status).toBe(401);
    }
    expect((await send({ path: `/mcp?token=${TOKENS.ann}`, headers })).status).toBe(401);
    expect(events).toEqual([]);
  });

  it.each([
    ['another Host', { Host: 'evil.example' }],
    ['a Host of another port', { Host: '127.0.0.1:1' }],
    ['a Host that looks alike', { Host: `127.0.0.1.evil.example:80` }],
    ['the origin of a page', { Origin: 'http://evil.example' }],
    ['the origin of a page of this machine', { Origin: 'http://localhost:3000' }],
    ['an opaque origin', { Origin: 'null' }],
  ])('with %s is refused, whatever its token', async (_, headers) => {
    const sent = await send({ headers: { ...ann, ...headers }, body: initialize });
    expect(sent.status).toBe(403);
    expect(events).toEqual([]);
  });

  it('by a name of loopback is taken', async () => {
    const { port } = new URL(server.url);
    const headers = { ...ann, Host: `LOCALHOST:${port}` };
    expect((await send({ headers, body: initialize })).status).toBe(200);
  });

  it.each([
    ['another path', { path: '/', headers: ann }, 404],
    ['a path above', { path: '/mcp/../mcp', headers: ann }, 404],
    ['another method', { method: 'PUT', headers: ann }, 405],
    ['a preflight', { method: 'OPTIONS', headers: ann }, 405],
    ['no JSON', { headers: ann, body: '{' }, 400],
    ['no body', { headers: ann }, 400],
    ['no session', { headers: ann, body: call(1, 'picture') }, 400],
    ['a stream without a session', { method: 'GET', headers: ann }, 400],
    ['a batch with an initialization', { headers: ann, body: [initialize, call(1, 'x')] }, 400],
    ['a session that there is not', { headers: inSession('x'), body: call(1, 'picture') }, 404],
    [
      'JSON that nests deep',
      { headers: ann, body: '['.repeat(tries({ check: 100_000, long: 1_000_000 })) },
      400,
    ],
    [
      'an initialization that the SDK refuses',
      { headers: { ...ann, Accept: 'x' }, body: initialize },
      406,
    ],
  ])('with %s is refused', async (_, sent, status) => {
    expect((await send(sent)).status).toBe(status);
    expect(events).toEqual([]);
  });

  it('that is too large is not read', async () => {
    const headers = { ...ann, 'Content-Length': '4000001' };
    const announced = open({ headers });
    announced.on('error', () => {});
    announced.flushHeaders();
    const [answer] = await once(announced, 'response');
    expect(answer.statusCode).toBe(413);
    announced.destroy();

    const endless = open({ headers: { ...ann, 'Transfer-Encoding': 'chunked' } });
    endless.on('error', () => {});
    let refused: IncomingMessage | undefined;
    endless.once('response', (response) => {
      refused = response;
    });
    const closed = new Promise((resolve) => endless.once('close', resolve));
    const more = () => {
      if (!endless.destroyed && refused === undefined) endless.write('x'.repeat(100_000), more);
    };
    more();
    await Promise.race([closed, new Promise((resolve) => endless.once('response', resolve))]);
    endless.destroy();
    // Either the answer has arrived, or the connection was closed.
    expect([413, undefined]).toContain(refused?.statusCode);
    expect((await send({ headers: ann, body: initialize })).status).toBe(200);
  });
});

describe('a session', () => {
  it('is found by its client alone', async () => {
    await serve();
    const id = await begin();
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const foreign = inSession(id, TOKENS.bob);
    const nobodys = inSession('00000000-0000-4000-8000-000000000000', TOKENS.bob);
    for (const sent of [{ body: call(1, 'picture') }, { method: 'GET' }, { method: 'DELETE' }]) {
      const refused = await send({ ...sent, headers: foreign });
      expect(refused.status).toBe(404);
      expect(refused).toEqual(await send({ ...sent, headers: nobodys }));
    }
    const own = await send({ headers: inSession(id), body: call(1, 'picture') });
    expect(own.text).toContain('a dot');
  });

  it('answers a call whose arguments nest deep, and goes on', async () => {
    await serve();
    const headers = inSession(await begin());
    const levels = tries({ check: 50_000, long: 500_000 });
    const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const body = JSON.stringify(call(1, 'picture')).replace('{}}', `{"a":${deep}}}`);
    const { text } = await send({ headers, body });
    expect(text).toContain('isError');
    expect(text).toMatch(/input_invalid: .*nested deeper than 500 levels/);
    expect((await send({ headers, body: call(2, 'picture') })).text).toContain('a dot');
  });

  it('has the personality of its client', async () => {
    world.setToolset(['picture']);
    world.setToolset(['forecast'], '', 'reader');
    await serve({ clients: { ...clients, bob: { ...clients.bob, personality: 'reader' } } });
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const told = async (token: string) =>
      (await send({ headers: inSession(await begin(token), token), body: list })).text;
    expect(await told(TOKENS.ann)).toMatch(/"picture"(?!.*"forecast")/);
    expect(await told(TOKENS.bob)).toMatch(/"forecast"(?!.*"picture")/);
  });

  it('has a memory and grants for its client alone', async () => {
    await serve();
    await begin();
    const [event] = events;
    const session = (userScopeId: string) =>
      runtime.session(event?.sessionId ?? '', { identity: { userScopeId } });
    await session('ann').addSource({ source: 'x', tool: 'y' });
    await expect(session('bob').sources()).rejects.toMatchObject({
      code: 'SESSION_OWNER_MISMATCH',
    });
  });

  it('ends when its client deletes it, with its calls', async () => {
    await serve();
    const id = await begin();
    const running = send({ headers: inSession(id), body: call(1, 'wait') }).catch(() => {});
    const pid = await began();
    expect((await send({ method: 'DELETE', headers: inSession(id) })).status).toBe(200);
    await running;
    await ended(pid);
    expect((await send({ headers: inSession(id), body: call(2, 'picture') })).status).toBe(404);
    await expect.poll(() => events.map(({ kind }) => kind)).toEqual(['begun', 'ended']);
  });

  it('ends a call whose client breaks off, and goes on', async () => {
    await serve();
    const id = await begin();
    const broken = open({ headers: inSession(id), body: call(1, 'wait') });
    broken.on('error', () => {});
    broken.end();
    const pid = await began();
    broken.destroy();
    await ended(pid);
    const next = await send({ headers: inSession(id), body: call(2, 'picture') });
    expect(next.text).toContain('a dot');
  });

  it('ends calls that wait behind another on a connection that breaks off', async () => {
    await serve({ limits: { reconnectMs: 1 } });
    const headers = { ...ann, 'Mcp-Session-Id': await begin() };
    const { hostname, port } = new URL(server.url);
    const connection = connect(Number(port), hostname);
    await once(connection, 'connect');
    const sent = (body: object) =>
      [
        'POST /mcp HTTP/1.1',
        `Host: ${hostname}:${port}`,
        'Accept: application/json, text/event-stream',
        'Content-Type: application/json',
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        `Content-Length: ${JSON.stringify(body).length}`,
        '',
        JSON.stringify(body),
      ].join('\r\n');
    connection.write(sent(call(1, 'steps')) + sent(call(2, 'wait')));
    const pid = await began();
    connection.destroy();
    await ended(pid);
    world.write('heard', '');
    const stream = open({ method: 'GET', headers });
    stream.on('error', () => {});
    stream.end();
    await once(stream, 'response');
    stream.destroy();
    await expect.poll(() => events.map(({ kind }) => kind)).toEqual(['begun', 'ended']);
  });

  it('ends the response to a call that is withdrawn, and takes its id again', async () => {
    await serve();
    const headers = inSession(await begin());
    const running = send({ headers, body: call(1, 'wait') });
    const pid = await began();
    const withdrawn = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1 },
    };
    expect((await send({ headers, body: withdrawn })).status).toBe(202);
    expect(await running).toMatchObject({ status: 200, text: '' });
    await ended(pid);
    expect((await send({ headers, body: call(1, 'picture') })).text).toContain('a dot');
  });

  it('takes no second request with the id of one that is not answered', async () => {
    await serve();
    const id = await begin();
    const running = send({ headers: inSession(id), body: call(1, 'wait') }).catch(() => {});
    const pid = await began();
    for (const body of [call(1, 'picture'), [call(2, 'picture'), call(2, 'picture')]]) {
      const refused = await send({ headers: inSession(id), body });
      expect(refused.status).toBe(400);
      expect(JSON.parse(refused.text).error.code).toBe(-32600);
    }
    for (let time = 0; time < 2; time++) {
      const next = await send({ headers: inSession(id), body: call(2, 'picture') });
      expect(next.text).toContain('a dot');
    }
    expect((await send({ method: 'DELETE', headers: inSession(id) })).status).toBe(200);
    await running;
    await ended(pid);
  });

  it('ends when its client has lost its stream', async () => {
    await serve({ limits: { reconnectMs: 1 } });
    const client = newClient();
    await client.connect(httpTransport(server.url, TOKENS.ann));
    await client.listTools();
    // The client does not tell the server.
    await client.close();
    await expect.poll(() => events.map(({ kind }) => kind)).toEqual(['begun', 'ended']);
  });

  it('ends when its client has not come back', async () => {
    await serve({ limits: { idleMs: 1 } });
    await begin();
    await expect.poll(() => events.map(({ kind }) => kind)).toEqual(['begun', 'ended']);
  });

  it('makes room for another of its client, and not where it is in use', async () => {
    await serve({ limits: { maxSessionsPerClient: 2 } });
    const bobs = await begin(TOKENS.bob);
    const first = await begin();
    const second = await begin();
    const third = await begin();
    const status = async (id: string, token = TOKENS.ann) =>
      (await send({ headers: inSession(id, token), body: call(1, 'picture') })).status;
    expect(await status(first)).toBe(404);
    expect([await status(second), await status(third)]).toEqual([200, 200]);
    expect(await status(bobs, TOKENS.bob)).toBe(200);

    const streams = [second, third].map((id) => open({ method: 'GET', headers: inSession(id) }));
    await Promise.all(
      streams.map((stream) => {
        stream.on('error', () => {});
        stream.end();
        return once(stream, 'response');
      }),
    );
    expect((await send({ headers: ann, body: initialize })).status).toBe(503);
    expect((await send({ headers: bearer(TOKENS.bob), body: initialize })).status).toBe(200);
    for (const stream of streams) stream.destroy();
  });

  it('takes no room of other clients when it has ended, or when its initialization is refused', async () => {
    await serve({ limits: { maxSessions: 1 } });
    expect((await send({ headers: { ...ann, Accept: 'x' }, body: initialize })).status).toBe(406);
    const id = await begin(TOKENS.bob);
    await send({ method: 'DELETE', headers: inSession(id, TOKENS.bob) });
    await expect.poll(() => events.map(({ kind }) => kind)).toEqual(['begun', 'ended']);
    await begin();
  });

  it('leaves no timer when it ends, for its client or with the server', async () => {
    const idleMs = 1_234_567;
    const timers = new Map<number, object>();
    const hook = createHook({
      init: (id, type, _, timer) => type === 'Timeout' && timers.set(id, timer),
      destroy: (id) => timers.delete(id),
    }).enable();
    const waiting = () =>
      [...timers.values()].filter((timer) => Object(timer)._idleTimeout === idleMs).length;
    await serve({ limits: { idleMs } });
    const deleted = await begin();
    await begin(TOKENS.bob);
    await expect.poll(waiting).toBe(2);
    await send({ method: 'DELETE', headers: inSession(deleted) });
    await expect.poll(waiting).toBe(1);
    await server.close();
    await expect.poll(waiting).toBe(0);
    hook.disable();
  });

  it('ends with the server, with its calls, which are answered', async () => {
    await serve();
    const id = await begin();
    const running = send({ headers: inSession(id), body: call(1, 'wait') });
    const pid = await began();
    await server.close();
    expect((await running).text).toContain('the turn was aborted while this call ran');
    await ended(pid);
    expect(events.map(({ kind }) => kind)).toEqual(['begun', 'ended']);
  });

  it('has so many calls at once, and refuses more', async () => {
    await serve({ maxCallsAtOnce: 1 });
    const id = await begin();
    const running = send({ headers: inSession(id), body: call(1, 'wait') }).catch(() => {});
    await began();
    const refused = await send({ headers: inSession(id), body: call(2, 'picture') });
    expect(refused.text).toContain('too many calls at once');
    await send({ method: 'DELETE', headers: inSession(id) });
    await running;
  });
});

describe('serveHttp', () => {
  const oneClient = (settings: object) => ({
    clients: { ann: { ...clients.ann, ...Object(settings) } },
  });
  const refused = { code: 'CONFIG_INVALID' };
  it.each([
    ['no client', { clients: {} }],
    ['a short token', { clients: { ann: { token: 'a'.repeat(31) } } }],
    ['a token with a space', { clients: { ann: { token: `${'a'.repeat(40)} b` } } }],
    ['one token for two', { clients: { ann: clients.ann, bob: clients.ann } }],
    ['an address of the network, and no host', { clients, host: '0.0.0.0' }],
    ['an empty address, which is every one', { clients, host: '', allowedHosts: ['a.com'] }],
    ['an address that is no text', { clients, host: Object(5), allowedHosts: ['a.com'] }],
    ['an invalid limit', { clients, limits: { maxRequestBytes: Number.NaN } }],
    ['a limit that no timer takes', { clients, limits: { idleMs: Number.POSITIVE_INFINITY } }],
    ['a limit that there is not', { clients, limits: Object({ maxSession: 1 }) }],
    ['no calls at once', { clients, maxCallsAtOnce: 0 }],
    ['a port that is no number', { clients, port: Object('abc') }],
    ['a port that there is not', { clients, port: 65_536 }],
    ['half a port', { clients, port: 80.5 }],
    ['a client that is no object', { clients: { ann: Object('x') } }],
    [
      'a misspelt option of a client',
      { clients: { ann: Object({ ...clients.ann, personalty: 'x' }) } },
    ],
    ['a promise of an identity', oneClient({ identity: Promise.resolve({ teamId: 'a' }) })],
    ['a misspelt part of an identity', oneClient({ identity: { userScope: 'a' } })],
    ['a limit of a client that is no number', oneClient({ limits: { maxCalls: Number.NaN } })],
    ['a promise of the limits of a client', oneClient({ limits: Promise.resolve({}) })],
    ['a promise of limits', { clients, limits: Object(Promise.resolve({ maxSessions: 1 })) }],
    ['no limits', { clients, limits: JSON.parse('null') }],
    ['a text for the hosts', { clients, allowedHosts: Object('a.com') }],
    ['a text for the origins', { clients, allowedOrigins: Object('https://a.com') }],
    ['a path without /', { clients, path: 'mcp' }],
    ['a listener that is no function', { clients, onSession: Object('x') }],
    ['approvals of nobody', { clients, approvals: Object('nobody') }],
    ['a personality that there is not', { clients: { ann: { ...clients.ann, personality: 'x' } } }],
  ])('refuses %s', async (_, options) => {
    await expect(serveHttp(runtime, options)).rejects.toMatchObject(refused);
  });

  it('says which port is taken', async () => {
    await serve();
    const port = Number(new URL(server.url).port);
    await expect(serveHttp(runtime, { clients, port })).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`the port ${port} is taken by another program`),
      cause: { code: 'EADDRINUSE' },
    });
  });

  it('takes the hosts and origins that are named, and no others', async () => {
    await serve({ allowedHosts: ['MCP.example.com'], allowedOrigins: ['https://app.example'] });
    const status = async (headers: Record<string, string>) =>
      (await send({ headers: { ...ann, ...headers }, body: initialize })).status;
    expect(await status({ Host: 'mcp.example.com' })).toBe(200);
    expect(await status({ Origin: 'https://app.example' })).toBe(200);
    expect(await status({ Host: 'mcp.example.com:81' })).toBe(403);
    expect(await status({ Origin: 'https://app.example.evil' })).toBe(403);
  });

  it('lets the runtime approve, and asks no client, where it is told to', async () => {
    const asked: string[] = [];
    const approving = await startRuntime(world, ({ toolName }) => {
      asked.push(toolName);
      return { approved: asked.length === 1, reason: 'once is enough' };
    });
    await serve({ approvals: 'session' }, approving);
    let forms = 0;
    const client = newClient(() => {
      forms++;
      return { action: 'accept', content: { approve: true } };
    });
    await client.connect(httpTransport(server.url, TOKENS.ann));
    const count = () => client.callTool({ name: 'count', arguments: { line: 'a' } });
    expect((await count()).isError).toBeUndefined();
    expect(JSON.stringify(await count())).toContain('once is enough');
    expect(asked).toEqual(['count', 'count']);
    expect(forms).toBe(0);
    expect(world.read('counted.txt')).toBe('a\n');
    await client.close();
    await approving.close();
  });

  it('tells of calls that wait', async () => {
    const waiting: unknown[] = [];
    await serve({ onWaiting: (call) => waiting.push(call) });
    const id = await begin();
    const body = { ...call(1, 'count'), params: { name: 'count', arguments: { line: 'a' } } };
    await send({ headers: inSession(id), body });
    expect(waiting).toMatchObject([
      { client: 'ann', sessionId: events[0]?.sessionId, approval: { toolName: 'count' } },
    ]);
  });
});
