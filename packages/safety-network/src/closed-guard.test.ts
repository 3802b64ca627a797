import { getEventListeners, once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createNetworkGuard, type NetworkGuardOptions } from './network-guard.js';
import { type LoopbackServer, rejection, startServer } from './testing/loopback.js';

let server: LoopbackServer;
beforeEach(async () => {
  server = await startServer((_, response) => response.end('hello'));
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

const closed = { code: 'NETWORK_FAILED', message: expect.stringContaining('guard is closed') };

/** Something that is waited for: `asked` is called when it is, and it goes on after `go`. */
function gate() {
  let asked = () => {};
  let go = () => {};
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const mayGo = new Promise<void>((resolve) => {
    go = resolve;
  });
  const wait = () => {
    asked();
    return mayGo;
  };
  return { wait, wasAsked, go };
}

function guardOf(options: Partial<NetworkGuardOptions> = {}) {
  return createNetworkGuard({
    allowedHosts: ['*'],
    policy: { allow_private_urls: true },
    lookup: async () => [{ address: '127.0.0.1' }],
    ...options,
  });
}

describe('NetworkGuard.close', () => {
  it('lets no later request out', async () => {
    const guard = guardOf();
    await guard.close();
    expect(await rejection(guard.fetch(server.origin))).toMatchObject(closed);
    const connecting = guard.connect(new URL(server.origin), { timeoutMs: 10_000 });
    expect(await rejection(connecting)).toMatchObject(closed);
    expect(server.connections).toBe(0);
  });

  it.each(['Node', 'the program'])(
    'lets no request of the fetch of %s out that waits for an address',
    async (whose) => {
      const { wait, wasAsked, go } = gate();
      const calls: unknown[] = [];
      const fetch: typeof globalThis.fetch = async (...args) => {
        calls.push(args);
        return globalThis.fetch(...args);
      };
      const guard = guardOf({
        ...(whose === 'Node' ? {} : { fetch }),
        lookup: async () => {
          await wait();
          return [{ address: '127.0.0.1' }];
        },
      });
      const failed = rejection(guard.fetch(`http://a.test:${server.port}/`));
      await wasAsked;
      await guard.close();
      go();
      expect(await failed).toMatchObject(closed);
      expect(server.connections).toBe(0);
      expect(calls).toEqual([]);
    },
  );

  it.each(['Node', 'the program'])(
    'lets no request of the fetch of %s out that is prepared',
    async (whose) => {
      const { wait, wasAsked, go } = gate();
      const fetch: typeof globalThis.fetch = (...args) => globalThis.fetch(...args);
      const guard = guardOf(whose === 'Node' ? {} : { fetch });
      const prepare = async (_: URL, init: RequestInit) => {
        await wait();
        return init;
      };
      const failed = rejection(guard.fetch(server.origin, {}, { prepare }));
      await wasAsked;
      await guard.close();
      go();
      expect(await failed).toMatchObject(closed);
      expect(server.connections).toBe(0);
    },
  );

  it('opens no connection that waits for an address', async () => {
    const { wait, wasAsked, go } = gate();
    const guard = guardOf({
      lookup: async () => {
        await wait();
        return [{ address: '127.0.0.1' }];
      },
    });
    const url = new URL(`http://a.test:${server.port}/`);
    const failed = rejection(guard.connect(url, { timeoutMs: 10_000 }));
    await wasAsked;
    await guard.close();
    expect(await failed).toMatchObject(closed);
    go();
    // A connection that was opened now would be the first of two.
    await (await guardOf().fetch(server.origin)).text();
    expect(server.connections).toBe(1);
  });

  it('ends an attempt to connect', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { wait, wasAsked, go } = gate();
    let isAttempted = false;
    const guard = guardOf({
      lookup: async () => {
        // The attempt looks the name up once more, when what was found before is too old.
        if (isAttempted) await wait();
        isAttempted = true;
        vi.advanceTimersByTime(60_000);
        return [{ address: '127.0.0.1' }];
      },
    });
    const url = new URL(`http://a.test:${server.port}/`);
    const failed = rejection(guard.connect(url, { timeoutMs: 10_000 }));
    await wasAsked;
    await guard.close();
    expect(await failed).toMatchObject(closed);
    go();
    // A connection that was opened now would be the first of two.
    await (await guardOf().fetch(server.origin)).text();
    expect(server.connections).toBe(1);
  });

  it('may have to end many attempts at once, of which Node gives no warning', async () => {
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown) => warnings.push(warning);
    process.on('warning', onWarning);
    try {
      const guard = guardOf();
      const signal = new AbortController().signal;
      const connect = () => guard.connect(new URL(server.origin), { timeoutMs: 10_000, signal });
      await Promise.all(Array.from({ length: 12 }, connect));
      expect(getEventListeners(signal, 'abort')).toEqual([]);
      await guard.close();
      expect(warnings).toEqual([]);
    } finally {
      process.off('warning', onWarning);
    }
  });

  it('ends an open connection', async () => {
    const guard = guardOf();
    const socket = await guard.connect(new URL(server.origin), { timeoutMs: 10_000 });
    const ended = once(socket, 'close');
    await guard.close();
    await ended;
    expect(socket.destroyed).toBe(true);
  });
});
