import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PinnedAgent, type ResolveChecked } from './pinned-agent.js';
import { type LoopbackServer, startServer } from './testing/loopback.js';

let server: LoopbackServer;
beforeEach(async () => {
  server = await startServer((_, response) => response.end('hello'));
});
afterEach(() => server.close());

function send(agent: PinnedAgent, origin: string): Promise<string> {
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
    agent.dispatch({ origin, path: '/', method: 'GET' }, handler, () => {});
  });
}

describe('PinnedAgent', () => {
  it.each(['127.0.0.1', 'a.test'])('asks before it connects to %s, with the port', async (host) => {
    const resolve = vi.fn<ResolveChecked>(async () => [{ address: '127.0.0.1', family: 4 }]);
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
});
