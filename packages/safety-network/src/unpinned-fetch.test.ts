import { request as httpRequest } from 'node:http';
import { isAddressAllowed } from '@ethosagent/policy';
import { countTries, tries } from '@ethosagent/test-support';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LookupFunction } from './address-book.js';
import type { NetworkAccess } from './hop.js';
import { createNetworkGuard, type NetworkGuardOptions } from './network-guard.js';
import { type LoopbackServer, rejection, startServer } from './testing/loopback.js';

const PUBLIC = '93.184.215.14';
/** The addresses of names for the guard. The fetch below always connects to this machine. */
const addresses: Record<string, string[]> = {};
const lookup: LookupFunction = async (name) => {
  const found = addresses[name];
  if (found === undefined) throw new Error(`ENOTFOUND ${name}`);
  return found.map((address) => ({ address }));
};

const isDenied = expect.objectContaining({ code: 'HOST_NOT_ALLOWED' });

let server: LoopbackServer;
let calls = 0;

/** Like many libraries: ignores dispatchers, and resolves names itself. */
async function ownFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  calls += 1;
  const url = new URL(String(input));
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port: server.port, path: url.pathname, method: init.method ?? 'GET' },
      (answer) => {
        answer.resume();
        const { location } = answer.headers;
        const headers = location === undefined ? {} : { location };
        resolve(new Response('secret', { status: answer.statusCode ?? 0, headers }));
      },
    );
    request.on('error', reject);
    request.end();
  });
}

beforeAll(async () => {
  server = await startServer((request, response) => {
    const [, host] = /^\/to\/(.*)$/.exec(request.url ?? '') ?? [];
    if (host !== undefined) response.writeHead(307, { location: `http://${host}/` });
    response.end('secret');
  });
});
beforeEach(() => {
  calls = 0;
  for (const name of Object.keys(addresses)) delete addresses[name];
});
afterEach(() => {
  vi.unstubAllGlobals();
});
afterAll(() => server.close());

/** Both ways in which a host replaces Node's `fetch`. */
const WAYS: [string, (options?: Partial<NetworkGuardOptions>) => NetworkGuardOptions][] = [
  [
    'passed by the host',
    (options) => ({ allowedHosts: ['*'], lookup, fetch: ownFetch, ...options }),
  ],
  [
    'replacing the global one',
    (options) => {
      vi.stubGlobal('fetch', ownFetch);
      return { allowedHosts: ['*'], lookup, ...options };
    },
  ],
];

const BAD: [string, string[]][] = [
  ['loopback', ['127.0.0.1']],
  ['private', ['10.0.0.1']],
  ['link-local', ['169.254.1.1']],
  ['metadata', ['169.254.169.254']],
  ['loopback in IPv6', ['::1']],
  ['loopback within IPv6', ['::ffff:127.0.0.1']],
  ['unique local', ['fd00::1']],
  ['one bad among good ones', [PUBLIC, '192.168.0.1']],
  ['none', []],
  ['what is no address', ['localhost']],
];

describe.each(WAYS)(
  'NetworkGuard.fetch with a fetch %s that ignores the dispatcher',
  (_way, options) => {
    it.each(BAD)('does not call it for a name that leads to %s', async (_kind, found) => {
      addresses['rebound.example'] = found;
      const accesses: NetworkAccess[] = [];
      const guard = createNetworkGuard(options());
      const error = await rejection(
        guard.fetch('http://rebound.example/', {}, { onAccess: (access) => accesses.push(access) }),
      );
      expect(error).toEqual(isDenied);
      expect(calls).toBe(0);
      expect(accesses).toMatchObject([{ decision: 'denied', host: 'rebound.example' }]);
    });

    it.each(BAD)('does not follow a redirect to a name that leads to %s', async (_kind, found) => {
      addresses['good.example'] = [PUBLIC];
      addresses['rebound.example'] = found;
      const accesses: NetworkAccess[] = [];
      const guard = createNetworkGuard(options());
      const request = guard.fetch(
        'http://good.example/to/rebound.example',
        {},
        { onAccess: (access) => accesses.push(access) },
      );
      expect(await rejection(request)).toEqual(isDenied);
      expect(calls).toBe(1);
      expect(accesses.map(({ decision }) => decision)).toEqual(['allowed', 'denied']);
    });

    it('does not call it for a name that can not be resolved', async () => {
      const guard = createNetworkGuard(options());
      const error = await rejection(guard.fetch('http://unknown.example/'));
      expect(error).toEqual(isDenied);
      expect(error).toMatchObject({ rule: 'address unknown' });
      expect(calls).toBe(0);
    });

    it('never reaches metadata by a name, also where private addresses are allowed', async () => {
      addresses['m.example'] = ['169.254.169.254'];
      addresses['p.example'] = ['10.0.0.1'];
      const guard = createNetworkGuard(options({ policy: { allow_private_urls: true } }));
      expect(await rejection(guard.fetch('http://m.example/'))).toEqual(isDenied);
      expect(calls).toBe(0);
      expect((await guard.fetch('http://p.example/')).status).toBe(200);
    });

    it('calls it for a good name, of which it tells before', async () => {
      addresses['good.example'] = [PUBLIC];
      const guard = createNetworkGuard(options());
      const onAccess = vi.fn(() => expect(calls).toBe(0));
      expect((await guard.fetch('http://good.example/', {}, { onAccess })).status).toBe(200);
      expect(onAccess).toHaveBeenCalledTimes(1);
      const refuse = () => {
        throw new Error('can not be recorded');
      };
      calls = 0;
      await rejection(guard.fetch('http://good.example/', {}, { onAccess: refuse }));
      expect(calls).toBe(0);
    });

    it('ends with its deadline while a name is looked up', async () => {
      const guard = createNetworkGuard(
        options({ lookup: () => new Promise(() => {}), timeoutMs: 20 }),
      );
      const error = await rejection(guard.fetch('http://slow.example/'));
      expect(error).toMatchObject({ code: 'NETWORK_TIMEOUT' });
      expect(calls).toBe(0);
    });
  },
);

describe('a fetch that follows redirects by itself', () => {
  it('gives no answer: where it went was not judged', async () => {
    addresses['good.example'] = [PUBLIC];
    const cancel = vi.fn();
    const following = async () =>
      Object.defineProperty(new Response(new ReadableStream({ cancel })), 'redirected', {
        value: true,
      });
    const guard = createNetworkGuard({ allowedHosts: ['*'], lookup, fetch: following });
    const error = await rejection(guard.fetch('http://good.example/'));
    expect(error).toMatchObject({ code: 'HOST_NOT_ALLOWED', rule: 'followed a redirect' });
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('reaches no other origin through the dispatcher', async () => {
    addresses['a.example'] = ['127.0.0.1'];
    addresses['b.example'] = ['127.0.0.1'];
    const other = await startServer((_, response) => response.end('secret'));
    const guard = createNetworkGuard({
      allowedHosts: ['a.example'],
      policy: { allow_private_urls: true },
      lookup,
      fetch: (url, init) => fetch(url, { ...init, redirect: 'follow' }),
    });
    const start = `http://a.example:${server.port}/to/b.example:${other.port}`;
    expect(await rejection(guard.fetch(start))).toMatchObject({ rule: 'dispatcher' });
    expect(other.connections).toBe(0);
    await guard.close();
    await other.close();
  });
});

describe('whatever a name leads to', () => {
  const literal = fc.oneof(fc.ipV4(), fc.ipV6());

  it('no fetch is called while one address is not public', async (test) => {
    const guard = createNetworkGuard({ allowedHosts: ['*'], lookup, fetch: ownFetch });
    const numRuns = tries({ check: 300, long: 50_000 });
    let name = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(literal, { minLength: 1, maxLength: 4 }), async (found) => {
        name += 1;
        calls = 0;
        addresses[`n${name}.example`] = found;
        const error = await rejection(guard.fetch(`http://n${name}.example/`));
        const isGood = found.every((address) => isAddressAllowed(address, { allowPrivate: false }));
        expect([calls, error === undefined]).toEqual(isGood ? [1, true] : [0, false]);
      }),
      { numRuns },
    );
    countTries(test, 'network', numRuns);
  });
});
