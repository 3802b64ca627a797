import { describe, expect, it } from 'vitest';
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

describe('a tool that runs as a task', () => {
  it('of server-everything gives its result', async () => {
    const { bridge, call } = createWorld({
      servers: { e: { command: NODE, args: [npmServer('server-everything'), 'stdio'] } },
    });
    await bridge.start();
    const args = { topic: 'bridges', ambiguous: false };
    expect(await call('mcp__e__simulate-research-query', args)).toMatchObject({
      ok: true,
      value: expect.stringContaining('bridges'),
    });
  });

  it('is asked after no oftener than may be, and cancelled when the call is', async () => {
    const { call } = await featured({ limits: { callTimeoutMs: 1_000 } });
    const before = performance.now();
    expect(await call('mcp__h__hang', {})).toMatchObject({
      code: 'execution_failed',
      error: expect.stringContaining('no answer within 1 s'),
    });
    const polls = await call('mcp__h__polls', {});
    const most = (performance.now() - before) / 200;
    expect(Number(polls.ok && polls.value)).toBeLessThanOrEqual(most);
    const cancelled = await call('mcp__h__cancelled', {});
    expect(cancelled.ok && cancelled.value).toContain('{"taskId":"hang"}');
  });

  it('gives what became of it', async () => {
    const { call } = await featured();
    expect(await call('mcp__h__task', {})).toMatchObject({ ok: true, value: 'did task' });
  });
});

describe('what a server logs', () => {
  it('is short, and without the secrets that it was given', async () => {
    const entries: McpLogEntry[] = [];
    const { call } = await featured({ onLog: (entry) => entries.push(entry) });
    await call('mcp__h__log', { text: '3' });
    expect(entries).toHaveLength(3);
    expect(entries[0]).toMatchObject({ server: 'h', level: 'info', logger: 'l' });
    expect(entries[0]?.text).toMatch(/^\[secret:mcp\/h\/KEY\] 0 xxx/);
    expect(Math.max(...entries.map(({ text }) => text.length))).toBeLessThanOrEqual(2_010);
    expect(JSON.stringify(entries)).not.toContain(SECRET);
  });

  it('is not read where the host reads none', async () => {
    const { call } = await featured();
    expect(await call('mcp__h__log', { text: '5' })).toMatchObject({ value: 'logged' });
  });
});

describe('a completion', () => {
  it('of a server that proposes 100,000 values has the first ones, cleaned', async () => {
    const { bridge } = await featured();
    const argument = { name: 'a', value: 'x' };
    const { values, hasMore } = await bridge.complete('h', { of: { prompt: 'p' }, argument });
    expect([values.length, hasMore, values[0], values[99]]).toEqual([100, true, 'x0', 'x99']);
  });

  it('of server-everything is what it proposes', async () => {
    const { bridge } = createWorld({
      servers: { e: { command: NODE, args: [npmServer('server-everything'), 'stdio'] } },
    });
    const argument = { name: 'department', value: 'E' };
    const answer = bridge.complete('e', { of: { prompt: 'completable-prompt' }, argument });
    expect((await answer).values).toEqual(['Engineering']);
  });

  it('of a server that has none, or is none, is refused', async () => {
    const { bridge } = createWorld({
      servers: { h: { command: NODE, args: [fixture('hostile')] } },
    });
    const request = { of: { prompt: 'p' }, argument: { name: 'a', value: '' } };
    await expect(bridge.complete('h', request)).rejects.toMatchObject({ code: 'TOOL_UNAVAILABLE' });
    await expect(bridge.complete('x', request)).rejects.toMatchObject({ code: 'TOOL_UNAVAILABLE' });
  });
});

describe('sampling', () => {
  const asked: Parameters<McpSampling>[0][] = [];
  const onSampling: McpSampling = async (request) => {
    asked.push(request);
    return { role: 'assistant', model: 'm', content: { type: 'text', text: 'said' } };
  };

  it('takes no context of others along, is within bounds, and is refused in the long run', async () => {
    const { relay } = await featured({ onSampling });
    const params = {
      messages: [user('hello\u200b\u202e')],
      includeContext: 'allServers',
      maxTokens: 1_000_000,
      metadata: { all: true },
    };
    expect(await relay('sampling/createMessage', params)).toContain('said');
    expect(asked).toEqual([{ messages: [user('hello')], maxTokens: 8_192 }]);
    const answers: string[] = [];
    for (let at = 0; at < 15; at++) answers.push(await relay('sampling/createMessage', params));
    expect(answers.join()).toContain('too many requests in a minute');
  });

  it('with tools, or of too much, reaches no model', async () => {
    asked.length = 0;
    const { relay } = await featured({ onSampling });
    const refused = [
      { tools: [{ name: 't', inputSchema: { type: 'object' } }] },
      { messages: Array.from({ length: 101 }, () => user('x')) },
      { messages: [user('x'.repeat(1_000_001))] },
    ];
    for (const more of refused) {
      const params = { messages: [user('x')], maxTokens: 1, ...more };
      expect(await relay('sampling/createMessage', params)).toContain('"code":-32602');
    }
    expect(asked).toEqual([]);
  });
});

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

describe('elicitation', () => {
  it('goes to the user within bounds, and gives back what was asked for', async () => {
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
  });

  it('that asks for a secret, or for too much, reaches no user', async () => {
    let reached = 0;
    const { relay } = await featured({
      onElicitation: async () => {
        reached++;
        return { action: 'accept', content: {} };
      },
    });
    for (const [what, params] of REFUSED) {
      expect([what, await relay('elicitation/create', params)]).toEqual([
        what,
        expect.stringMatching(/"code":-326\d\d/),
      ]);
    }
    expect(reached).toBe(0);
  });
});
