import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PinnedAgent, type ResolveChecked } from './pinned-agent.js';
import { type LoopbackServer, startServer } from './testing/loopback.js';

let server: LoopbackServer;
beforeEach(async () => {
  server = await startServer((_, response) => response.end('hello'));
});
afterEach(() => server.close());

const ADDRESSES = [{ address: '127.0.0.1', family: 4 }] as const;

function send(
  agent: PinnedAgent,
  origin: string,
  onWaiting: (stopWaiting: () => void) => void = () => {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const handler = {
      onRequestStart() {},
      onResponseData(_: unknown, chunk: Buffer) {
        chunks.push(chunk);
      },
      onResponseEnd: () => resolve(Buffer.concat(chunks).toString()),
      onResponseError: (_: unknown, error: Error) => reject(error),
    };
    agent.dispatch({ origin, path: '/', method: 'GET' }, handler, onWaiting);
  });
}

describe('PinnedAgent', () => {
  it.each(['127.0.0.1', 'a.test'])('asks before it connects to %s, with the port', async (host) => {
    const resolve = vi.fn<ResolveChecked>(async () => ADDRESSES);
    const agent = new PinnedAgent(resolve);
    expect(await send(agent, `http://${host}:${server.port}`)).toBe('hello');
    expect(resolve).toHaveBeenCalledWith(host, server.port);
    await agent.destroy();
  });

  it.each(['127.0.0.1', 'a.test'])('does not connect to %s when that is refused', async (host) => {
    const refusal = new Error('refused');
    const agent = new PinnedAgent(() => Promise.reject(refusal));
    await expect(send(agent, `http://${host}:${server.port}`)).rejects.toBe(refusal);
    expect(server.connections).toBe(0);
    await agent.destroy();
  });

  it('asks for each port of a name of its own', async () => {
    const other = await startServer((_, response) => response.end('other'));
    const refusal = new Error('refused');
    const agent = new PinnedAgent((_, port) =>
      port === server.port ? Promise.resolve(ADDRESSES) : Promise.reject(refusal),
    );
    expect(await send(agent, `http://a.test:${server.port}`)).toBe('hello');
    await expect(send(agent, `http://a.test:${other.port}`)).rejects.toBe(refusal);
    expect(other.connections).toBe(0);
    await agent.destroy();
    await other.close();
  });

  // The second request shows that the first had its time: connections are accepted in order.
  it.each(['127.0.0.1', 'a.test'])(
    'opens no connection to %s if its request ends before it is allowed',
    async (host) => {
      const origin = `http://${host}:${server.port}`;
      let stopWaiting = () => {};
      const agent = new PinnedAgent(async () => {
        await setImmediate();
        stopWaiting();
        return ADDRESSES;
      });
      await expect(
        send(agent, origin, (stop) => {
          stopWaiting = stop;
        }),
      ).rejects.toThrow('every request for this connection has ended');
      const other = new PinnedAgent(async () => ADDRESSES);
      expect(await send(other, origin)).toBe('hello');
      expect(server.connections).toBe(1);
      await Promise.all([agent.destroy(), other.destroy()]);
    },
  );
});
