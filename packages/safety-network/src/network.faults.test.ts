import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NetworkAccess } from './hop.js';
import { createNetworkGuard, type NetworkGuardOptions } from './network-guard.js';
import { type LoopbackServer, loopbackLookup, rejection, startServer } from './testing/loopback.js';

// A resolver, or a host's own fetch, that fails in every way and then works.

let server: LoopbackServer;
beforeAll(async () => {
  server = await startServer((_, response) => response.end('hello'));
});
const strays: unknown[] = [];
const collect = (reason: unknown) => strays.push(reason);
beforeAll(() => {
  process.on('unhandledRejection', collect);
});
afterAll(async () => {
  await server.close();
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off('unhandledRejection', collect);
  expect(strays).toEqual([]);
});

/** Gives a value any type. */
function untyped(value: unknown) {
  const box: object = { value };
  return Reflect.get(box, 'value');
}

function guardOf(options: Partial<NetworkGuardOptions>) {
  return createNetworkGuard({
    allowedHosts: ['*.test'],
    policy: { allow: ['*.test'], allow_private_urls: true },
    timeoutMs: 5_000,
    ...options,
  });
}

const url = (host = 'a.test') => `http://${host}:${server.port}/`;
const never = () => new Promise<never>(() => {});

const failures: [string, () => unknown][] = [
  [
    'throws',
    () => {
      throw new Error('resolver at 10.0.0.53');
    },
  ],
  ['rejects', () => Promise.reject(new Error('resolver at 10.0.0.53'))],
  ['rejects with nothing', () => Promise.reject()],
  ['rejects with a text', () => Promise.reject('resolver at 10.0.0.53')],
];
const garbage: [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a number', 7],
  ['a text', '127.0.0.1'],
  ['an empty list', []],
  ['a list of texts', ['127.0.0.1']],
  ['a list of null', [null]],
  ['an address that is a number', [{ address: 2_130_706_433 }]],
  ['an address that is a host', [{ address: 'localhost' }]],
  ['an empty address', [{ address: '' }]],
  ['an address with a port', [{ address: '127.0.0.1:80' }]],
  ['an address with a zone', [{ address: 'fe80::1%lo' }]],
  ['a good address and a bad one', [{ address: '127.0.0.1' }, { address: 'x' }]],
  ['a good address and none', [{ address: '127.0.0.1' }, {}]],
];

describe('NetworkGuard.fetch with a resolver', () => {
  it.each([
    ...failures,
    ...garbage.map(([what, answer]): [string, () => unknown] => [
      `that gives ${what}`,
      () => answer,
    ]),
  ])(
    '%s: denied without a connection, told once, and right again for the next name',
    async (_, fails) => {
      let isFaulty = true;
      const told: NetworkAccess[] = [];
      const lookup = untyped(() => (isFaulty ? fails() : loopbackLookup()));
      const guard = guardOf({ lookup });
      const before = server.connections;
      const error = await rejection(
        guard.fetch(url(), {}, { onAccess: (access) => told.push(access) }),
      );
      expect(error).toMatchObject({
        code: 'HOST_NOT_ALLOWED',
        message: expect.not.stringContaining('10.0.0.53'),
      });
      expect(told).toMatchObject([{ host: 'a.test', decision: 'denied' }]);
      expect(server.connections).toBe(before);
      isFaulty = false;
      expect(await (await guard.fetch(url('b.test'))).text()).toBe('hello');
      await guard.close();
    },
  );

  it('that hangs, and answers when the request is over: nothing is connected to', async () => {
    let answer: (addresses: { address: string }[]) => void = () => {};
    let isFaulty = true;
    const lookup = () =>
      isFaulty
        ? new Promise<{ address: string }[]>((resolve) => {
            answer = resolve;
          })
        : loopbackLookup();
    const guard = guardOf({ lookup, timeoutMs: 50 });
    const before = server.connections;
    expect(await rejection(guard.fetch(url()))).toMatchObject({ code: 'NETWORK_TIMEOUT' });
    answer([{ address: '127.0.0.1' }]);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(server.connections).toBe(before);
    isFaulty = false;
    expect(await (await guardOf({ lookup }).fetch(url())).text()).toBe('hello');
    await guard.close();
  });

  it('that flips between good and bad on every question: each request reaches the good one or none', async () => {
    let asked = 0;
    const lookup = async () => [{ address: asked++ % 2 === 0 ? '127.0.0.1' : '169.254.169.254' }];
    const guard = guardOf({ lookup });
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        guard.fetch(url(`h${index}.test`)).then(
          (response) => response.text(),
          (error: { code?: string }) => error.code,
        ),
      ),
    );
    expect(new Set(outcomes)).toEqual(new Set(['hello', 'HOST_NOT_ALLOWED']));
    await guard.close();
  });
});

describe('NetworkGuard.fetch with a fetch of the host’s own', () => {
  it.each<[string, () => unknown]>([
    ...failures,
    ['gives garbage', async () => ({ status: 'x', headers: 7, body: 'text' })],
  ])('that %s: a typed failure or what there is, and it works again', async (what, fails) => {
    let isFaulty = true;
    const guard = guardOf({
      lookup: loopbackLookup,
      fetch: untyped((...args: Parameters<typeof fetch>) =>
        isFaulty ? fails() : globalThis.fetch(...args),
      ),
    });
    const error = await rejection(guard.fetch(url()));
    if (what !== 'gives garbage') {
      expect(error).toMatchObject({
        code: 'NETWORK_FAILED',
        message: expect.not.stringContaining('10.0.0.53'),
      });
    }
    isFaulty = false;
    expect(await (await guard.fetch(url())).text()).toBe('hello');
    await guard.close();
  });

  it('that hangs: NETWORK_TIMEOUT, and what comes late is dropped', async () => {
    let answer: (response: Response) => void = () => {};
    let cancelled = false;
    const guard = guardOf({
      lookup: loopbackLookup,
      timeoutMs: 50,
      fetch: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    expect(await rejection(guard.fetch(url()))).toMatchObject({ code: 'NETWORK_TIMEOUT' });
    const body = new ReadableStream({
      cancel() {
        cancelled = true;
      },
    });
    answer(new Response(body));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(cancelled).toBe(true);
    await guard.close();
  });

  it('that never answers: an abort ends the request at once', async () => {
    const controller = new AbortController();
    const guard = guardOf({ lookup: loopbackLookup, fetch: never });
    const request = rejection(guard.fetch(url(), { signal: controller.signal }));
    controller.abort();
    expect(await request).toMatchObject({ name: 'AbortError' });
    await guard.close();
  });
});
