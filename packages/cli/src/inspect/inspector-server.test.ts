import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { EthosError } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type InspectorServer, startInspectorServer } from './inspector-server.js';
import { LiveStreams } from './live-streams.js';

let folder: string;
let server: InspectorServer;
let streams: LiveStreams;
const defects: unknown[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inspector-'));
  for (const name of ['index.html', 'app.js', 'style.css', 'icon.svg']) {
    writeFileSync(join(folder, name), `the ${name}`);
  }
  writeFileSync(join(folder, 'secret.txt'), 'not of the page');
  streams = new LiveStreams();
  server = await startInspectorServer({
    routes: {
      'GET /api/state': () => ({ secret: 'of the home' }),
      'POST /api/approvals': ({ body }) => ({ took: body }),
      'GET /api/denied': () => {
        throw new EthosError('APPROVAL_INVALID', 'no such call waits');
      },
      'GET /api/broken': () => {
        throw new TypeError('a path of the host');
      },
    },
    streams,
    pageFolder: pathToFileURL(`${folder}/`),
    onDefect: (error) => defects.push(error),
  });
});
afterEach(async () => {
  await server.close();
  defects.splice(0);
  rmSync(folder, { recursive: true, force: true });
});

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}
interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends a request as any program on this machine could, with any headers. */
async function ask(
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<Answer> {
  const { port } = new URL(server.origin);
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers }, async (response) => {
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: await text(response),
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

const own = () => ({ Origin: server.origin, 'Content-Type': 'application/json' });
const token = () => new URL(server.url).hash.replace('#token=', '');
const exchange = (given: unknown, headers: Record<string, string> = own()) =>
  ask('/api/session', { method: 'POST', headers, body: JSON.stringify({ token: given }) });
const signIn = async () => {
  const { key } = JSON.parse((await exchange(token())).body);
  return { Authorization: `Bearer ${key}` };
};

describe('the inspector answers', () => {
  it('the page to whoever asks by its own name, and nothing of the folder beside it', async () => {
    expect((await ask('/')).body).toBe('the index.html');
    expect((await ask('/app.js')).headers['content-type']).toContain('javascript');
    for (const path of [
      '/secret.txt',
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '//secret.txt',
      '/__proto__',
      '//[',
      'http://evil.example/',
      '*',
    ]) {
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    }
  });

  it('what is asked for to whoever has exchanged the token', async () => {
    const headers = await signIn();
    expect(JSON.parse((await ask('/api/state', { headers })).body)).toEqual({
      secret: 'of the home',
    });
    const posted = await ask('/api/approvals', {
      method: 'POST',
      headers: { ...headers, ...own() },
      body: '{"a":1}',
    });
    expect(JSON.parse(posted.body)).toEqual({ took: { a: 1 } });
  });

  it('errors by their code, and of a defect nothing that says where', async () => {
    const headers = await signIn();
    const denied = await ask('/api/denied', { headers });
    expect([denied.status, JSON.parse(denied.body).error]).toEqual([
      409,
      { code: 'APPROVAL_INVALID', message: 'no such call waits' },
    ]);
    const broken = await ask('/api/broken', { headers });
    expect(broken.status).toBe(500);
    expect(broken.body).not.toContain('a path of the host');
    expect(defects).toEqual([expect.any(TypeError)]);
  });

  it('always with headers that keep the page to itself', async () => {
    const refused = await ask('/api/state');
    const page = await ask('/');
    for (const { headers } of [refused, page, await exchange('x')]) {
      const policy = headers['content-security-policy'];
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|data:|https?:|\*/);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      expect(headers).not.toHaveProperty('set-cookie');
    }
  });
});

describe('the inspector gives nothing', () => {
  const nothing = async (answer: Promise<Answer>, status: number) => {
    const { body, status: got } = await answer;
    expect([got, body]).toEqual([status, '']);
  };

  it('without a key, with a wrong one, or with the token in its place', async () => {
    await nothing(ask('/api/state'), 401);
    await nothing(ask('/api/stream'), 401);
    await nothing(ask('/api/nothing'), 401);
    for (const key of ['', 'x', token(), 'undefined', 'null']) {
      await nothing(ask('/api/state', { headers: { Authorization: `Bearer ${key}` } }), 401);
    }
    await signIn();
    await nothing(ask('/api/state', { headers: { Authorization: `Bearer ${token()}` } }), 401);
    await nothing(ask(`/api/state?token=${token()}`), 401);
    await nothing(ask('/api/state', { headers: { Cookie: `key=${token()}` } }), 401);
  });

  it.each([[''], ['x'], [null], [undefined], [1], [{}], [['x']], [true]])(
    'for the token %j, and the right one is good after it',
    async (wrong) => {
      await nothing(exchange(wrong), 401);
      expect((await exchange(token())).status).toBe(200);
    },
  );

  it('for a token that was used', async () => {
    await signIn();
    await nothing(exchange(token()), 401);
  });

  it('to one of many that come with the token at once, but the first', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(token())));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('to a name that was rebound to this machine', async () => {
    const headers = await signIn();
    const { port } = new URL(server.origin);
    for (const host of [
      `evil.example:${port}`,
      `localhost:${port}`,
      `127.0.0.1.evil.example:${port}`,
      '127.0.0.1',
      `127.1:${port}`,
      `[::1]:${port}`,
      `127.0.0.1:${port}@evil.example`,
    ]) {
      await nothing(ask('/', { headers: { Host: host } }), 403);
      await nothing(ask('/api/state', { headers: { ...headers, Host: host } }), 403);
      await nothing(exchange(token(), { ...own(), Host: host }), 403);
    }
  });

  it('to another origin, also with the key', async () => {
    const headers = await signIn();
    const { port } = new URL(server.origin);
    for (const origin of [
      'https://evil.example',
      'null',
      `http://localhost:${port}`,
      `https://127.0.0.1:${port}`,
      'http://127.0.0.1:1',
      `${server.origin}.evil.example`,
    ]) {
      await nothing(ask('/api/state', { headers: { ...headers, Origin: origin } }), 403);
      await nothing(exchange(token(), { ...own(), Origin: origin }), 403);
    }
    for (const site of ['cross-site', 'same-site']) {
      await nothing(ask('/', { headers: { 'Sec-Fetch-Site': site } }), 403);
      await nothing(ask('/api/state', { headers: { ...headers, 'Sec-Fetch-Site': site } }), 403);
    }
  });

  it('to a preflight, or a POST that names no origin or is a form', async () => {
    const headers = await signIn();
    await nothing(ask('/api/approvals', { method: 'OPTIONS', headers: own() }), 401);
    const body = '{"a":1}';
    const post = (more: Record<string, string>) =>
      ask('/api/approvals', { method: 'POST', headers: { ...headers, ...more }, body });
    await nothing(post({ 'Content-Type': 'application/json' }), 403);
    await nothing(post({ Origin: server.origin, 'Content-Type': 'text/plain' }), 400);
    await nothing(
      post({ Origin: server.origin, 'Content-Type': 'application/x-www-form-urlencoded' }),
      400,
    );
    await nothing(
      ask('/api/approvals', { method: 'PUT', headers: { ...headers, ...own() }, body }),
      404,
    );
  });

  it('on another address of this machine', async () => {
    const { port } = new URL(server.origin);
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(
        ({ internal, family, address }) =>
          !internal && family === 'IPv4' && address !== '127.0.0.1',
      )
      .map(({ address }) => address);
    for (const host of [...others, '127.0.0.2']) {
      const outcome = await new Promise((resolve) => {
        const socket = connect({ host, port: Number(port) });
        socket.once('connect', () => {
          socket.destroy();
          resolve('connected');
        });
        socket.once('error', (error) => resolve(Object(error).code));
      });
      expect(outcome).toBe('ECONNREFUSED');
    }
  });

  it('for a body that is too large, is no JSON, or breaks off', async () => {
    const headers = { ...(await signIn()), ...own() };
    const post = (body: string) => ask('/api/approvals', { method: 'POST', headers, body });
    await nothing(post('{"a":'), 400);
    await nothing(post(''), 400);
    await nothing(post(`"${'x'.repeat(5 * 1024 * 1024)}"`), 400).catch((error: unknown) => {
      // The connection may be closed while the body is being sent.
      expect(['EPIPE', 'ECONNRESET']).toContain(Object(error).code);
    });
    expect((await ask('/')).status).toBe(200);
  });
});

describe('the stream', () => {
  it('tells what is sent, and its oldest reader is let go when there are too many', async () => {
    const headers = await signIn();
    const { port } = new URL(server.origin);
    const open = () =>
      new Promise<{ next(): Promise<string>; closed: Promise<void> }>((resolve) => {
        const asked = request(
          { host: '127.0.0.1', port, path: '/api/stream', headers },
          (response) => {
            response.setEncoding('utf8');
            const chunks = response[Symbol.asyncIterator]();
            const closed = new Promise<void>((end) => response.once('close', end));
            resolve({ next: async () => String((await chunks.next()).value), closed });
          },
        );
        asked.on('error', () => {});
        asked.end();
      });
    const first = await open();
    expect(await first.next()).toBe(': welcome\n\n');
    streams.send({ type: 'events', newest: 3, held: 3 });
    expect(await first.next()).toBe('event: events\ndata: {"newest":3,"held":3}\n\n');
    for (let more = 0; more < 16; more += 1) await open();
    await first.next().catch(() => {});
    await first.closed;
  });
});
