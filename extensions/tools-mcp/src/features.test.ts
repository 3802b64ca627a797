import { isLongRun } from '@ethosagent/test-support';
import { expect, it } from 'vitest';
import { createWorld, fixture, NODE, npmServer, type WorldOptions } from './fixtures/world.js';
import type { McpElicitation, McpLogEntry, McpSampling } from './index.js';

const SECRET = 'w-1f0e-77aa-the-key';

async function featured(options: Partial<WorldOptions> = {}) {
  const env = { KEY: '${KEY}' };
  const world = createWorld({
    servers: { h: { command: NODE, args: [fixture('hostile'), 'features'], env } },
    secrets: { 'mcp/h/KEY': SECRET },
    ...options,
  });
  await world.bridge.start();
  /** What the server gets for a request of its own. */
  const relay = async (method: string, params: object): Promise<string> => {
    const said = await world.call('mcp__h__relay', { text: JSON.stringify({ method, params }) });
    return said.ok ? said.value : said.error;
  };
  return { ...world, relay };
}

const asking = (message: string, properties: object = { city: { type: 'string' } }) => ({
  message,
  requestedSchema: { type: 'object', properties },
});
const user = (text: string) => ({ role: 'user', content: { type: 'text', text } });

it.runIf(isLongRun())('server-everything runs a task, and completes an argument', async () => {
  const { bridge, call } = createWorld({
    servers: { e: { command: NODE, args: [npmServer('server-everything'), 'stdio'] } },
  });
  const argument = { name: 'department', value: 'E' };
  const answer = bridge.complete('e', { of: { prompt: 'completable-prompt' }, argument });
  expect((await answer).values).toEqual(['Engineering']);
  const args = { topic: 'bridges', ambiguous: false };
  expect(await call('mcp__e__simulate-research-query', args)).toMatchObject({
    ok: true,
    value: expect.stringContaining('bridges'),
  });
});

it('a hostile server is asked after a task no oftener than may be, and its proposals are cut', async () => {
  const { bridge, call } = await featured();
  const abort = new AbortController();
  const before = performance.now();
  const hanging = call('mcp__h__hang', {}, { abortSignal: abort.signal });
  const polls = async () => {
    const said = await call('mcp__h__polls', {});
    return Number(said.ok && said.value);
  };
  await expect.poll(polls, { timeout: 600_000, interval: 50 }).toBeGreaterThan(1);
  const asked = await polls();
  expect(asked).toBeLessThanOrEqual((performance.now() - before) / 200);
  abort.abort();
  expect(await hanging).toMatchObject({ ok: false });
  const cancelled = await call('mcp__h__cancelled', {});
  const told: object[] = JSON.parse(cancelled.ok ? cancelled.value : '[]');
  expect(told).toContainEqual({ taskId: 'hang' });
  // At most the one request that has no answer yet.
  expect(told.filter((params) => 'requestId' in params).length).toBeLessThanOrEqual(1);
  expect(await call('mcp__h__task', {})).toMatchObject({ ok: true, value: 'did task' });

  const argument = { name: 'a', value: 'x' };
  const { values, hasMore } = await bridge.complete('h', { of: { prompt: 'p' }, argument });
  expect([values.length, hasMore, values[0], values[99]]).toEqual([100, true, 'x0', 'x99']);
  // The host has no handler for logs.
  expect(await call('mcp__h__log', { text: '5' })).toMatchObject({ value: 'logged' });
});

it('what a server says of its tools is without the secrets that it was given', async () => {
  const { registry } = await featured();
  expect(registry.get('mcp__h__log')?.description).toBe('It logs with [secret:mcp/h/KEY]');
});

it('what a server logs is short, and without the secrets that it was given', async () => {
  const entries: McpLogEntry[] = [];
  const { call } = await featured({ onLog: (entry) => entries.push(entry) });
  await call('mcp__h__log', { text: '3' });
  expect(entries).toHaveLength(3);
  expect(entries[0]).toMatchObject({ server: 'h', level: 'info', logger: 'l' });
  expect(entries[0]?.text).toMatch(/^\[secret:mcp\/h\/KEY\] 0 xxx/);
  expect(Math.max(...entries.map(({ text }) => text.length))).toBeLessThanOrEqual(2_010);
  expect(JSON.stringify(entries)).not.toContain(SECRET);
});

it.runIf(isLongRun())(
  'a server that completes nothing, or is not there, is not asked',
  async () => {
    const { bridge } = createWorld({
      servers: { h: { command: NODE, args: [fixture('hostile')] } },
    });
    const request = { of: { prompt: 'p' }, argument: { name: 'a', value: '' } };
    await expect(bridge.complete('h', request)).rejects.toMatchObject({ code: 'TOOL_UNAVAILABLE' });
    await expect(bridge.complete('x', request)).rejects.toMatchObject({ code: 'TOOL_UNAVAILABLE' });
  },
);

it.runIf(isLongRun())(
  'a completion that is no longer wanted does not wait for its server',
  async () => {
    const { bridge, call } = createWorld({
      servers: { h: { command: NODE, args: [fixture('hostile')] } },
      limits: { restartDelayMs: 3_600_000, maxRestartDelayMs: 3_600_000 },
    });
    await bridge.start();
    await call('mcp__h__exit', {});
    const abort = new AbortController();
    const argument = { name: 'a', value: '' };
    const asked = bridge.complete('h', { of: { prompt: 'p' }, argument, signal: abort.signal });
    abort.abort();
    // This is not the time limit, which has the same code.
    const message = expect.stringContaining('cancelled before h was asked');
    await expect(asked).rejects.toMatchObject({ code: 'TOOL_UNAVAILABLE', message });
  },
);

it.runIf(isLongRun())(
  'sampling takes no context or tools along, is within bounds, and is refused in the long run',
  async () => {
    const asked: Parameters<McpSampling>[0][] = [];
    const { relay } = await featured({
      onSampling: async (request) => {
        asked.push(request);
        return { role: 'assistant', model: 'm', content: { type: 'text', text: 'said' } };
      },
    });
    const params = {
      messages: [user('hello\u200b\u202e')],
      includeContext: 'allServers',
      maxTokens: 1_000_000,
      metadata: { all: true },
    };
    const refused = [
      { tools: [{ name: 't', inputSchema: { type: 'object' } }] },
      { messages: Array.from({ length: 101 }, () => user('x')) },
    ];
    for (const more of refused) {
      expect(await relay('sampling/createMessage', { ...params, ...more })).toContain(
        '"code":-32602',
      );
    }
    const long = { ...params, messages: [user('x'.repeat(64_001))] };
    expect(await relay('sampling/createMessage', long)).toContain('"code":-32600');
    expect(await relay('sampling/createMessage', params)).toContain('said');
    expect(asked).toEqual([{ messages: [user('hello')], maxTokens: 8_192 }]);
    // Whatever the machine is doing meanwhile, it does not answer 10 a minute for long.
    const late = () => relay('sampling/createMessage', params);
    await expect.poll(late, { timeout: 600_000, interval: 1 }).toContain('too many requests');
  },
);

const REFUSED: [string, object][] = [
  ['a password', asking('Sign in', { password: { type: 'string' } })],
  ['a hidden password', asking('Sign in', { p: { type: 'string', title: 'Pass\u200bword' } })],
  ['a key in camel case', asking('Go on', { githubApiKey: { type: 'string' } })],
  ['a token by its description', asking('x', { a: { type: 'string', description: 'Your token' } })],
  ['a secret in the message', asking('Type your credentials below', { a: { type: 'string' } })],
  ['an address', { mode: 'url', message: 'x', url: 'https://evil.example', elicitationId: 'e' }],
  [
    'too many fields',
    asking(
      'x',
      Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`f${at}`, { type: 'string' }])),
    ),
  ],
  ['a large form', asking('x', { a: { type: 'string', description: 'x'.repeat(20_000) } })],
  ['a field with a strange name', asking('x', { 'a\u202eb': { type: 'string' } })],
];

it('elicitation goes to the user within bounds, except for what asks for a secret, or for too much', async () => {
  const asked: Parameters<McpElicitation>[0][] = [];
  const { relay } = await featured({
    onElicitation: async (request) => {
      asked.push(request);
      return { action: 'accept', content: { city: 'Bern', more: SECRET } };
    },
  });
  const answer = await relay('elicitation/create', asking(`Where?\u200b${'x'.repeat(5_000)}`));
  expect(JSON.parse(answer)).toEqual({ action: 'accept', content: { city: 'Bern' } });
  expect(asked[0]?.message.startsWith('Where?x')).toBe(true);
  expect(asked[0]?.message.length).toBeLessThanOrEqual(2_010);
  for (const [what, params] of REFUSED) {
    expect([what, await relay('elicitation/create', params)]).toEqual([
      what,
      expect.stringMatching(/"code":-32602/),
    ]);
  }
  expect(asked).toHaveLength(1);
});
