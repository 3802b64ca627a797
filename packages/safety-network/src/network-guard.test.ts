import { CapabilityError } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createNetworkGuard, type NetworkGuardOptions } from './network-guard.js';
import { type LoopbackServer, loopbackLookup, rejection, startServer } from './testing/loopback.js';

let server: LoopbackServer;
beforeEach(async () => {
  server = await startServer((_, response) => response.end('hello'));
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

const open = { allow_private_urls: true };

async function denial(url: string, options: NetworkGuardOptions, init?: RequestInit) {
  const lookups: string[] = [];
  const guard = createNetworkGuard({
    lookup: async (host) => {
      lookups.push(host);
      return [{ address: '127.0.0.1' }];
    },
    ...options,
  });
  const error = await rejection(guard.fetch(url, init));
  await guard.close();
  if (!(error instanceof CapabilityError)) throw new Error('not denied', { cause: error });
  expect(error.code).toBe('HOST_NOT_ALLOWED');
  expect(server.connections).toBe(0);
  return { error, lookups };
}

describe('NetworkGuard.fetch', () => {
  it('reaches a declared host and returns its response', async () => {
    const guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
    const response = await guard.fetch(new URL(`${server.origin}/a?b=c#d`));
    expect(response.status).toBe(200);
    expect(response.url).toBe(`${server.origin}/a?b=c`);
    expect(response.redirected).toBe(false);
    expect(await response.text()).toBe('hello');
    await guard.close();
  });

  it('denies an undeclared host with the documented message', async () => {
    const { error } = await denial('https://api.stripe.com/v1', {
      allowedHosts: ['api.github.com'],
    });
    expect(error.message).toBe(
      'HOST_NOT_ALLOWED: api.stripe.com is not in the declared allowedHosts',
    );
    expect(error.rule).toBe('not in the host set');
  });

  it('allows nothing for an empty host set', async () => {
    await denial(`${server.origin}/`, { allowedHosts: [], policy: open });
  });

  const literals = [
    '127.1',
    '0x7f000001',
    '017700000001',
    '2130706433',
    '１２７.０.０.１',
    '127.0.0.1.',
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    'localhost',
    'foo.localhost',
    'LOCALHOST.',
    '[::]',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::7f00:1]',
    '[::ffff:0:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::f7f7:f7f7]',
    '[2001:0:808:808::80ff:fffe]',
    '[2a00:1450:1:1:0:5efe:7f00:1]',
    '[fe80::1]',
    '[fe90::1]',
    '[fec0::1]',
    '[fc00::1]',
    '[100::1]',
    '[2001:db8::1]',
    '[fe80::1%25eth0]',
  ];
  it.each(literals)('denies http://%s/ without a look-up or a connection', async (host) => {
    const { lookups } = await denial(`http://${host}:${server.port}/`, {
      allowedHosts: ['*'],
      policy: {},
    });
    expect(lookups).toEqual([]);
  });

  const metadata = [
    '168.63.129.16',
    '100.100.100.200',
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.254.170.2',
    '192.0.0.192',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '[::ffff:169.254.169.254]',
    '[::a9fe:a9fe]',
    '[::ffff:0:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
    '[fe80::5efe:a9fe:a9fe]',
    'metadata.google.internal',
    'METADATA.google.internal.',
    'metadata',
  ];
  it.each(metadata)(
    'denies the metadata service http://%s/ also with allow_private_urls and when named',
    async (host) => {
      const name = host.replace(/\.$/, '');
      const policy = { allow: ['*', name], allow_private_urls: true };
      const { error, lookups } = await denial(`http://${host}/`, {
        allowedHosts: ['*', name],
        policy,
      });
      expect(error.rule).toBe('metadata service');
      expect(lookups).toEqual([]);
    },
  );

  it.each([
    ['evil.com', 'http://evil.com/'],
    ['evil.com', 'http://evil.com./'],
    ['evil.com', 'http://EVIL.com/'],
    ['EVIL.com', 'http://evil.com/'],
    ['*.evil.com', 'http://a.b.evil.com/'],
    ['bücher.de', 'http://xn--bcher-kva.de/'],
    ['xn--bcher-kva.de', 'http://BÜCHER.de/'],
    ['evil.com', 'http://good.com@evil.com/'],
  ])('denies by the rule %s the URL %s', async (rule, url) => {
    const { error } = await denial(url, { allowedHosts: ['*'], policy: { ...open, deny: [rule] } });
    expect(error.rule).toMatch(/^deny list/);
  });

  it.each([
    'http://good.com@evil.com/',
    'http://good.com:80@evil.com/',
    'http://evil.com\\@good.com/',
    'http://evil.com\\.good.com/',
    'http://evil.com%2f.good.com/',
    'http://evil.com%00.good.com/',
    'http://evil.com\u0000.good.com/',
    'http://evil.com#@good.com/',
    'http://evil.com?.good.com/',
    'http://evil.com/.good.com',
    'http://good.com../',
    'http://%65vil.com/',
    'http://evil。com/',
    'http:good.com.evil.com',
    'http://[good.com]/',
    'http://',
    '//good.com/',
    'good.com',
    '',
  ])('denies %j when good.com and below it are declared', async (url) => {
    await denial(url, { allowedHosts: ['good.com', '*.good.com'], policy: open });
  });

  it('denies a user name or password in the URL of a declared host', async () => {
    const { error } = await denial(`http://user:pw@127.0.0.1:${server.port}/`, {
      allowedHosts: ['127.0.0.1'],
    });
    expect(error.rule).toBe('userinfo');
    expect(error.message).not.toContain('pw');
  });

  it.each([
    'file:///etc/passwd',
    'data:text/plain,hello',
    'blob:http://127.0.0.1/1',
    'ftp://127.0.0.1/',
    'ws://127.0.0.1/',
    'wss://127.0.0.1/',
    'javascript:1',
    'about:blank',
  ])('denies the scheme of %s', async (url) => {
    const { error } = await denial(url, { allowedHosts: ['*', '127.0.0.1'], policy: open });
    expect(error.rule).toBe('scheme');
  });

  it.each([22, 25, 6379, 2375, 11_211, 27_017])('denies port %i', async (port) => {
    const { error } = await denial(`http://127.0.0.1:${port}/`, { allowedHosts: ['127.0.0.1'] });
    expect(error.rule).toBe('port');
  });

  it('opens a service port that a rule names, and no bad port', async () => {
    const fetch = vi.fn(async () => new Response('ok'));
    const guard = createNetworkGuard({
      allowedHosts: ['a.test:9200', 'a.test:25', '*'],
      policy: {},
      fetch,
      lookup: async () => [{ address: '93.184.215.14' }],
    });
    expect((await guard.fetch('http://a.test:9200/')).status).toBe(200);
    await expect(guard.fetch('http://a.test:25/')).rejects.toMatchObject({ rule: 'port' });
    await expect(guard.fetch('http://b.test:9200/')).rejects.toMatchObject({ rule: 'port' });
  });

  it('holds a pattern with a port to that port', async () => {
    const guard = createNetworkGuard({ allowedHosts: [`127.0.0.1:${server.port}`] });
    expect((await guard.fetch(server.origin)).status).toBe(200);
    await expect(guard.fetch(`http://127.0.0.1:${server.port + 1}/`)).rejects.toMatchObject({
      code: 'HOST_NOT_ALLOWED',
    });
    await guard.close();
  });

  it('refuses a deny rule that does not parse when it is made', () => {
    expect(() =>
      createNetworkGuard({ allowedHosts: ['*'], policy: { deny: ['e*vil.com'] } }),
    ).toThrow(/^CONFIG_INVALID/);
  });
});

describe('NetworkGuard.fetch, private addresses', () => {
  it('reaches what the operator names exactly: localhost and IP addresses', async () => {
    for (const [allow, host] of [
      [['127.0.0.1'], '127.0.0.1'],
      [['localhost'], 'localhost'],
      [[`localhost:${server.port}`], 'localhost'],
    ] as const) {
      const guard = createNetworkGuard({
        allowedHosts: allow,
        policy: { allow: [...allow] },
        lookup: loopbackLookup,
      });
      const response = await guard.fetch(`http://${host}:${server.port}/`);
      expect(await response.text()).toBe('hello');
      await guard.close();
    }
  });

  it.each([
    ['a wildcard', ['*'], '127.0.0.1'],
    ['another port', ['127.0.0.1:1234', '*'], '127.0.0.1'],
    ['no allow list', undefined, '127.0.0.1'],
    ['no allow list', undefined, 'localhost'],
    ['a name', ['intranet.test'], 'intranet.test'],
  ])(
    'denies a private address under %s (%j), whatever the tool declares',
    async (_, allow, host) => {
      const policy = allow ? { allow } : {};
      const { error } = await denial(`http://${host}:${server.port}/`, {
        allowedHosts: ['*', '127.0.0.1', 'localhost', 'intranet.test'],
        policy,
      });
      expect(error.rule).toBe('address floor: loopback');
      expect(error.message).not.toContain('127.0.0.1 is');
    },
  );

  it('takes the exact entries of the host set as the operator’s without a policy', async () => {
    const guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
    expect((await guard.fetch(server.origin)).status).toBe(200);
    await expect(guard.fetch(`http://127.0.0.2:${server.port}/`)).rejects.toMatchObject({
      code: 'HOST_NOT_ALLOWED',
    });
    await guard.close();
  });
});

describe('NetworkGuard.fetch, name resolution', () => {
  it.each([
    [['127.0.0.1']],
    [['93.184.216.34', '127.0.0.1']],
    [['127.0.0.1', '93.184.216.34']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['fe80::1%eth0']],
    [['not an address']],
    [['127.1']],
    [[]],
  ])('denies a name whose addresses are %j', async (addresses) => {
    const guard = createNetworkGuard({
      allowedHosts: ['*'],
      policy: {},
      lookup: async () => addresses.map((address) => ({ address })),
    });
    const error = await rejection(guard.fetch(`http://name.test:${server.port}/`));
    expect(error).toMatchObject({ code: 'HOST_NOT_ALLOWED' });
    expect(String(error)).not.toContain('127.0.0.1');
    expect(server.connections).toBe(0);
    await guard.close();
  });

  it('denies a name that can not be resolved, and asks again the next time', async () => {
    let isDown = true;
    const guard = createNetworkGuard({
      allowedHosts: ['*'],
      policy: open,
      lookup: async () => {
        if (isDown) throw new Error('EAI_AGAIN 10.0.0.53');
        return loopbackLookup();
      },
    });
    const error = await rejection(guard.fetch(`http://name.test:${server.port}/`));
    expect(error).toMatchObject({ code: 'HOST_NOT_ALLOWED', rule: 'address unknown' });
    expect(error).toHaveProperty('message', expect.stringContaining('; check the name'));
    expect(String(error)).not.toContain('10.0.0.53');
    expect(server.connections).toBe(0);
    isDown = false;
    const response = await guard.fetch(`http://name.test:${server.port}/`);
    expect(await response.text()).toBe('hello');
    await guard.close();
  });

  it('connects to the address that was checked, not to a later answer', async () => {
    const answers = ['127.0.0.1', '169.254.169.254'];
    const lookup = vi.fn(async () => [{ address: answers.shift() ?? '169.254.169.254' }]);
    const guard = createNetworkGuard({ allowedHosts: ['*'], policy: open, lookup });
    const response = await guard.fetch(`http://rebind.test:${server.port}/`);
    expect(await response.text()).toBe('hello');
    expect(lookup).toHaveBeenCalledTimes(1);
    await guard.close();
  });

  it('denies the next connection when the answer has turned bad', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const closing = await startServer((_, response) => {
      response.setHeader('connection', 'close');
      response.end('hello');
    });
    const answers = ['127.0.0.1', '169.254.169.254'];
    const guard = createNetworkGuard({
      allowedHosts: ['*'],
      policy: open,
      lookup: async () => [{ address: answers.shift() ?? '127.0.0.1' }],
    });
    const url = `http://rebind.test:${closing.port}/`;
    await (await guard.fetch(url)).text();
    vi.advanceTimersByTime(60_000);
    await expect(guard.fetch(url)).rejects.toMatchObject({ rule: 'address floor: metadata' });
    expect(closing.connections).toBe(1);
    await guard.close();
    await closing.close();
  });

  it('asks the system when it has no resolver of its own', async () => {
    const guard = createNetworkGuard({ allowedHosts: ['localhost'] });
    expect(await (await guard.fetch(`http://localhost:${server.port}/`)).text()).toBe('hello');
    await guard.close();
  });
});
