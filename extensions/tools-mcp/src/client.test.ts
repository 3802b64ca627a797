import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CreateMessageResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, it, onTestFinished } from 'vitest';
import { createClient, type McpSampling } from './client.js';

const PARAMS = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'hi\u202e' } }],
  includeContext: 'allServers' as const,
  maxTokens: 1_000_000,
};

/** A server that asks a client of ours for samples, both in this process. */
async function askingServer(onSampling: McpSampling): Promise<Server> {
  const client = createClient({
    server: 'h',
    personality: 'p',
    roots: undefined,
    onSampling,
    onElicitation: undefined,
    onLog: undefined,
    redact: (text) => text,
  });
  const server = new Server({ name: 'h', version: '1' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([client.connect(ours), server.connect(theirs)]);
  onTestFinished(() => client.close());
  return server;
}

const tool = { name: 't', inputSchema: { type: 'object' as const } };
const long = { role: 'user' as const, content: { type: 'text' as const, text: '' } };
it.each([
  ['tools', { tools: [tool] }],
  ['more than 100 messages', { messages: Array.from({ length: 101 }, () => long) }],
  [
    'more than 1,000,000 characters',
    {
      messages: [{ ...long, content: { type: 'text' as const, text: 'x'.repeat(1_000_001) } }],
    },
  ],
])('a request for a sample with %s is refused before the host sees it', async (_what, more) => {
  let asked = 0;
  const server = await askingServer(async () => {
    asked++;
    return { role: 'assistant', model: 'm', content: { type: 'text', text: 'said' } };
  });
  // Not by `createMessage`, which asks no client for what it has not offered.
  const request = { method: 'sampling/createMessage' as const, params: { ...PARAMS, ...more } };
  await expect(server.request(request, CreateMessageResultSchema)).rejects.toThrow(/-32602/);
  expect(asked).toBe(0);
});

it('the host is told who asks, without context, and no oftener than it may be', async () => {
  const asked: unknown[] = [];
  const server = await askingServer(async (request, { server: name, personality }) => {
    asked.push([request, name, personality]);
    return { role: 'assistant', model: 'm', content: { type: 'text', text: 'said' } };
  });
  for (let count = 0; count < 10; count++) await server.createMessage(PARAMS);
  // A busy machine may give the time for a few more.
  const late = () => server.createMessage(PARAMS).catch(String);
  await expect.poll(late, { interval: 1 }).toContain('too many requests in a minute');
  expect(asked[0]).toEqual([
    {
      messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
      maxTokens: 8_192,
    },
    'h',
    'p',
  ]);
});

it('a third request at once is refused, and the next one when another is answered', async () => {
  const answers: (() => void)[] = [];
  const server = await askingServer(
    () =>
      new Promise((resolve) => {
        answers.push(() =>
          resolve({ role: 'assistant', model: 'm', content: { type: 'text', text: 'said' } }),
        );
      }),
  );
  const [first, second] = [server.createMessage(PARAMS), server.createMessage(PARAMS)];
  await expect(server.createMessage(PARAMS)).rejects.toThrow('too many requests at once');
  answers[0]?.();
  await first;
  const fourth = server.createMessage(PARAMS);
  await expect.poll(() => answers.length, { interval: 1 }).toBe(3);
  for (const answer of answers) answer();
  await Promise.all([second, fourth]);
});
