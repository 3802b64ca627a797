import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { callAsTask } from './task-call.js';

afterEach(() => void vi.useRealTimers());

/** A client of a server whose tasks are to be asked for once in the given time. */
async function clientOf(pollInterval: number) {
  let polls = 0;
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  theirs.onmessage = (message) => {
    if (!('id' in message && 'method' in message)) return;
    const { id, method, params } = message;
    if (method === 'tasks/get') polls++;
    const task = { taskId: 't', status: polls > 1 ? 'completed' : 'working', pollInterval };
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: {},
        serverInfo: { name: 'h', version: '1' },
      },
      'tools/call': { task },
      'tasks/get': task,
      'tasks/result': { said: 'done' },
    };
    void theirs.send({ jsonrpc: '2.0', id, result: { ...results[method] } });
  };
  await theirs.start();
  const client = new Client({ name: 'c', version: '1' });
  await client.connect(ours);
  return { client, polls: () => polls };
}

it.each([
  ['a year', 365 * 24 * 3_600_000, 5_000],
  ['no time', 0, 200],
])('a task is asked for in bounded intervals where its server says %s', async (_what, said, ms) => {
  const { client, polls } = await clientOf(said);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { signal } = new AbortController();
  const call = { params: {}, schema: z.object({ said: z.string() }), ttlMs: 1 };
  const answer = callAsTask(client, call, { signal, timeout: 2_000_000_000 });
  for (const expected of [1, 2]) {
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(polls()).toBe(expected - 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(polls()).toBe(expected);
  }
  expect(await answer).toEqual({ said: 'done' });
});
