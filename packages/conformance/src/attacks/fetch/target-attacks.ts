import type { ScopedFetch } from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { fuzz } from '../../fuzz.js';
import {
  IPV4_EMBEDDINGS,
  IPV4_SPELLINGS,
  METADATA_ADDRESSES,
  METADATA_HOSTS,
  parseIPv4,
  SPECIAL_IPV6,
  specialHost,
} from './addresses.js';
import {
  type AttackedFetch,
  type CountingServer,
  type CreateFetch,
  type FetchRules,
  isDenied,
  rejection,
  startCanary,
  startServer,
  toLoopback,
} from './fetch-world.js';

const SPELLINGS = { ...IPV4_SPELLINGS, ...IPV4_EMBEDDINGS };
const PUBLIC_ONLY: FetchRules = {
  allowedHosts: ['*'],
  policy: { allow: ['*'], deny: ['evil.com', '*.EVIL.org', 'b\u00fccher.example'] },
  lookup: toLoopback,
};
const PRIVATE_TOO: FetchRules = {
  ...PUBLIC_ONLY,
  policy: { ...PUBLIC_ONLY.policy, allow_private_urls: true },
};
/** Headers with which a tool could change the target of a message, or its end. */
const REFUSED_HEADERS = [
  'host',
  'Host',
  'connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'expect',
  'proxy-authorization',
  'Proxy-Connection',
];

/** Tries to reach an address outside the policy through the URL, DNS and the `init`. */
export function targetAttacks(create: CreateFetch): void {
  let canary: CountingServer;
  let server: CountingServer;
  const made: AttackedFetch[] = [];
  const asked: string[] = [];

  beforeAll(async () => {
    canary = await startCanary();
    server = await startServer((_, response) => response.end('fine'));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });
  afterAll(async () => {
    for (const one of made) await one.close?.();
    await canary.close();
    await server.close();
  });

  async function fetchFor(rules: FetchRules): Promise<ScopedFetch> {
    const lookup = (name: string) => {
      asked.push(name);
      return rules.lookup(name);
    };
    const one = await create({ ...rules, lookup });
    made.push(one);
    return one.scopedFetch;
  }

  async function expectDenied(scopedFetch: ScopedFetch, url: string, init?: RequestInit) {
    expect(await rejection(scopedFetch.fetch(url, init)), url).toEqual(isDenied);
    expect([canary.connections, server.connections], url).toEqual([0, 0]);
  }

  const loopback = Object.entries(SPELLINGS).map(([name, spell]): [string, string] => [
    name,
    spell([127, 0, 0, 1]),
  ]);
  it.each([...loopback, ...SPECIAL_IPV6.map((host): [string, string] => ['IPv6', host])])(
    'refuses an address of its own network: %s, %s',
    async (_name, host) => {
      const scopedFetch = await fetchFor(PUBLIC_ONLY);
      asked.length = 0;
      await expectDenied(scopedFetch, `http://${host}:${canary.port}/`);
      expect(asked).toEqual([]);
    },
  );

  const metadata = METADATA_ADDRESSES.flatMap((address) =>
    Object.entries(SPELLINGS).map(([name, spell]): [string, string] => [
      `${address}, ${name}`,
      spell(parseIPv4(address)),
    ]),
  );
  it.each([...metadata, ...METADATA_HOSTS.map((host): [string, string] => [host, host])])(
    'refuses a metadata service though private addresses are allowed: %s',
    async (_name, host) => {
      const hosts = ['*', '169.254.169.254', 'metadata.google.internal'];
      const policy = { allow: hosts, allow_private_urls: true };
      const scopedFetch = await fetchFor({ ...PRIVATE_TOO, allowedHosts: hosts, policy });
      await expectDenied(scopedFetch, `http://${host}/latest/meta-data/`);
    },
  );

  it.each([
    ['one that is private', ['127.0.0.1']],
    ['several, one of them private', ['93.184.215.14', '10.0.0.1']],
    ['several, the first one private', ['::1', '93.184.215.14']],
    ['a metadata address', ['169.254.169.254']],
    ['one within IPv6', ['::ffff:127.0.0.1']],
    ['one in octal', ['0177.0.0.1']],
    ['one with a zone', ['fe80::1%lo']],
    ['a name', ['localhost']],
    ['nothing', []],
    ['an empty text', ['']],
  ])('refuses a name for which DNS has %s', async (_name, addresses) => {
    const lookup = async () => addresses.map((address) => ({ address }));
    const scopedFetch = await fetchFor({ ...PUBLIC_ONLY, lookup });
    await expectDenied(scopedFetch, `http://rebound.example:${canary.port}/`);
  });

  it('refuses a name that can not be resolved', async () => {
    const lookup = async () => Promise.reject(new Error('SERVFAIL for 10.0.0.1'));
    const scopedFetch = await fetchFor({ ...PUBLIC_ONLY, lookup });
    await expectDenied(scopedFetch, `http://rebound.example:${canary.port}/`);
  });

  it('connects to the address that it judged, when DNS says another each time', async () => {
    let answers = 0;
    const lookup = async () => {
      answers += 1;
      return [{ address: answers % 2 === 1 ? '127.0.0.1' : '169.254.169.254' }];
    };
    const scopedFetch = await fetchFor({ ...PRIVATE_TOO, lookup });
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        const response = await scopedFetch.fetch(`http://${name}.example:${server.port}/`);
        return response.text();
      }),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') expect(outcome.value).toBe('fine');
      else expect(outcome.reason).toEqual(isDenied);
    }
    await server.close();
    server = await startServer((_, response) => response.end('fine'));
  });

  it.each([
    'http://evil.com/',
    'http://evil.com./',
    'http://EVIL.com/',
    'http://ev\u00adil.com/',
    'http://\uff45vil.com/',
    'http://evil.com%2e/',
    'http://a.evil.org/',
    'http://a.b.Evil.ORG./',
    'http://B\u00dcCHER.example/',
    'http://xn--bcher-kva.example/',
    'http://evil.com../',
    'http://a@evil.com/',
    'http://good.example@evil.com/',
    'http://evil.com\\@good.example/',
    'http:evil.com/',
    'http:\\\\evil.com/',
    'http://ev\til.com/',
  ])('refuses a host on the deny list: %j', async (url) => {
    await expectDenied(await fetchFor(PRIVATE_TOO), url);
  });

  it.each([
    'file:///etc/passwd',
    'data:text/plain,x',
    'blob:http://127.0.0.1/x',
    'blob:https://good.example/0',
    'ftp://good.example/',
    'ws://good.example/',
    'wss://good.example/',
    'gopher://good.example/',
    'javascript:1',
    'about:blank',
    'http://',
    'http:///',
    '//good.example/',
    'good.example',
    '',
    'http://a b/',
    'http://a\0b/',
    'http://%00/',
    'http://user:pass@good.example/',
    'http://user@good.example/',
    'http://good.example:99999/',
    'http://[good.example]/',
    'http://good..example/',
    'http://1.2.3.4.5/',
    'http://256.256.256.256/',
  ])('refuses what is not a plain http URL: %j', async (url) => {
    await expectDenied(await fetchFor(PRIVATE_TOO), url);
  });

  it.each([0, 1, 7, 21, 22, 23, 25, 53, 110, 143, 445, 3306, 5432, 6379, 9200, 11211, 27017])(
    'refuses the port of another service: %i',
    async (port) => {
      const scopedFetch = await fetchFor(PRIVATE_TOO);
      await expectDenied(scopedFetch, `http://good.example:${port}/`);
    },
  );

  it.each<[string, object]>([
    ['a dispatcher', { dispatcher: { dispatch: () => true } }],
    ['an agent', { agent: {} }],
    ['a socket path', { socketPath: '/run/docker.sock' }],
    ['CONNECT', { method: 'CONNECT' }],
    ['connect', { method: 'connect' }],
    ['TRACE', { method: 'TRACE' }],
    ...REFUSED_HEADERS.map((header): [string, object] => [
      `the header ${header}`,
      { headers: { [header]: 'x' } },
    ]),
  ])('refuses %s in the init', async (_name, init) => {
    await expectDenied(await fetchFor(PRIVATE_TOO), `http://good.example:${server.port}/`, init);
  });

  it('does not use a proxy that the environment names', async () => {
    const proxy = `http://127.0.0.1:${canary.port}`;
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) {
      vi.stubEnv(name, proxy);
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    const scopedFetch = await fetchFor(PRIVATE_TOO);
    const response = await scopedFetch.fetch(`http://good.example:${server.port}/`);
    expect(await response.text()).toBe('fine');
    expect(canary.connections).toBe(0);
  });

  it('does not use a socket that was opened under another policy', async () => {
    const before = server.connections;
    for (const policy of [PRIVATE_TOO, { ...PRIVATE_TOO, allowedHosts: ['good.example'] }]) {
      const scopedFetch = await fetchFor(policy);
      for (let n = 0; n < 3; n += 1) {
        await (await scopedFetch.fetch(`http://good.example:${server.port}/`)).text();
      }
    }
    expect(server.connections - before).toBeGreaterThanOrEqual(2);
  });

  describe('whatever the address', () => {
    let scopedFetch: ScopedFetch;
    beforeAll(async () => {
      scopedFetch = await fetchFor(PUBLIC_ONLY);
    });
    const url = fc.tuple(
      fc.constantFrom('http', 'https', 'HTTP'),
      specialHost,
      fc.constantFrom('', '/', '/a?b#c', '?x', '\\x'),
    );
    fuzz(
      'there is no connection to one that is not public',
      url,
      async ([scheme, host, rest]) => {
        const before = canary.connections;
        const fetching = scopedFetch.fetch(`${scheme}://${host}:${canary.port}${rest}`);
        expect(await rejection(fetching)).toEqual(isDenied);
        expect(canary.connections).toBe(before);
      },
      { promised: 'network', runs: { check: 40, long: 75_000 } },
    );
  });
}
