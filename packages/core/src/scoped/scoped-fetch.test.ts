import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallScope } from '../call-scope.js';
import { makeTool, ok, rejection, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';
import { ScopedFetchImpl } from './scoped-fetch.js';

let server: Server;
let other: Server;
let host: string;
let otherHost: string;
const requests: string[] = [];
const otherRequests: string[] = [];

function listen(one: Server): Promise<string> {
  return new Promise((resolve) => {
    one.listen(0, '127.0.0.1', () => {
      const { port } = one.address() as AddressInfo;
      resolve(`127.0.0.1:${port}`);
    });
  });
}

beforeAll(async () => {
  other = createServer((request, response) => {
    otherRequests.push(request.url ?? '');
    response.end('other');
  });
  otherHost = await listen(other);
  server = createServer((request, response) => {
    requests.push(request.url ?? '');
    const target = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
    if (target !== null) response.writeHead(302, { location: target }).end();
    else if (request.url === '/slow') response.write('begun');
    else response.end('fine');
  });
  host = await listen(server);
});
afterAll(() => {
  for (const one of [server, other]) {
    one.closeAllConnections();
    one.close();
  }
});

function registryFor(allow: string[]): DefaultToolRegistry {
  const registry = new DefaultToolRegistry({ personalityNetworkAllow: allow });
  registry.register(
    makeTool(
      'get',
      async (args, ctx) => ok((await (await ctx.scopedFetch?.fetch(String(args)))?.text()) ?? ''),
      {
        capabilities: { network: { allowedHosts: ['*'] } },
        timeoutMs: 5000,
      },
    ),
  );
  return registry;
}

const denied = expect.objectContaining({
  ok: false,
  code: 'execution_failed',
  error: expect.stringMatching(/^HOST_NOT_ALLOWED: /),
});

describe('ctx.scopedFetch over real servers', () => {
  it('reaches the host that the operator named', async () => {
    expect(await runOne(registryFor([host]), 'get', `http://${host}/`)).toEqual(ok('fine'));
    expect(await runOne(registryFor(['127.0.0.1']), 'get', `http://${host}/`)).toEqual(ok('fine'));
  });

  it.each<[string, string[], () => string]>([
    ['another port than the operator named', ['127.0.0.1:1'], () => `http://${host}/`],
    ['a private address under *', ['*'], () => `http://${host}/`],
    ['another host', ['example.com'], () => `http://${host}/`],
    ['nothing allowed', [], () => `http://${host}/`],
    ['a file', ['127.0.0.1'], () => 'file:///etc/passwd'],
    ['userinfo', ['127.0.0.1'], () => `http://user:pass@${host}/`],
    [
      'a metadata address that the operator named',
      ['169.254.169.254'],
      () => 'http://169.254.169.254/',
    ],
  ])('refuses %s', async (_name, allow, url) => {
    const before = requests.length;
    expect(await runOne(registryFor(allow), 'get', url())).toEqual(denied);
    expect(requests).toHaveLength(before);
  });

  it.each<[string, () => string]>([
    ['another port', () => `http://${otherHost}/`],
    ['a metadata address', () => 'http://169.254.169.254/latest/meta-data'],
    ['another scheme', () => 'file:///etc/passwd'],
  ])('a redirect to %s is denied and not followed', async (_name, target) => {
    const url = `http://${host}/?to=${encodeURIComponent(target())}`;
    expect(await runOne(registryFor([host]), 'get', url)).toEqual(denied);
    expect(otherRequests).toEqual([]);
  });

  it('a redirect within the reach is followed', async () => {
    const url = `http://${host}/?to=${encodeURIComponent(`http://${host}/end`)}`;
    expect(await runOne(registryFor([host]), 'get', url)).toEqual(ok('fine'));
  });

  it('a policy of the turn narrows that of the personality', async () => {
    const registry = registryFor(['127.0.0.1']);
    const url = `http://${host}/`;
    expect(
      await runOne(registry, 'get', url, { networkPolicy: { allow: ['example.com'] } }),
    ).toEqual(denied);
    expect(await runOne(registry, 'get', url, { networkPolicy: { deny: ['127.0.0.1'] } })).toEqual(
      denied,
    );
    expect(await runOne(registry, 'get', url, { networkPolicy: { allow: ['127.0.0.1'] } })).toEqual(
      ok('fine'),
    );
  });

  it('a policy of the turn can not widen that of the personality', async () => {
    const networkPolicy = { allow: ['*', '127.0.0.1'], allow_private_urls: true };
    expect(
      await runOne(registryFor(['example.com']), 'get', `http://${host}/`, { networkPolicy }),
    ).toEqual(denied);
  });

  it('the tool’s own declaration is no consent to a private address', async () => {
    const registry = new DefaultToolRegistry({});
    registry.register(
      makeTool(
        'get',
        async (_args, ctx) =>
          ok((await (await ctx.scopedFetch?.fetch(`http://${host}/`))?.text()) ?? ''),
        {
          capabilities: { network: { allowedHosts: ['127.0.0.1', host] } },
        },
      ),
    );
    expect(await runOne(registry, 'get')).toEqual(denied);
  });

  it('a response body ends with the call', async () => {
    const journal = { sessionId: 's', personalityId: undefined, audit: undefined, now: Date.now };
    const scope = new CallScope(journal, { toolName: 'tool', toolCallId: 'call' });
    const response = await new ScopedFetchImpl(new Set([host]), { scope }).fetch(
      `http://${host}/slow`,
    );
    const body = response.text();
    scope.end();
    expect(await rejection(body)).toMatchObject({ code: 'CALL_ENDED' });
  });
});
