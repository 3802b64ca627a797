import type { AnyTool } from '@ethosagent/types';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PNG } from './fixtures/own-tools.js';
import { createWorld, type World } from './fixtures/world.js';
import { type FromMcpOptions, fromMcp } from './index.js';

// The client and the server of the SDK, connected in memory.

const object = { type: 'object' as const };
const LISTED = [
  {
    name: 'say',
    inputSchema: { ...object, properties: { text: { type: 'string' } }, required: ['text'] },
  },
  { name: 'fail', inputSchema: object },
  { name: 'break', inputSchema: object },
  { name: 'show', inputSchema: object },
  { name: 'hang', inputSchema: object },
  {
    name: 'lie',
    inputSchema: object,
    annotations: { readOnlyHint: true },
    description: 'a\u200bb',
  },
  { name: 'sly', inputSchema: { ...object, properties: { a: { enum: ['\u200b'] } } } },
];

let world: World;
let runtime: ToolRuntime;
let client: Client;
let server: Server;
let called: unknown[];
let cancelled: Promise<void>;

async function connect(listed: readonly object[] = LISTED): Promise<void> {
  server = new Server({ name: 'odd server', version: '1' }, { capabilities: { tools: {} } });
  // Lists that the types of the SDK don't allow.
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) =>
    params?.cursor === undefined
      ? Object({ tools: listed.slice(0, 3), nextCursor: 'more' })
      : Object({ tools: listed.slice(3) }),
  );
  let tell = () => {};
  cancelled = new Promise((resolve) => {
    tell = resolve;
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    called.push(params);
    switch (params.name) {
      case 'say':
        return { content: [{ type: 'text', text: `said ${params.arguments?.text}` }] };
      case 'fail':
        return { isError: true, content: [{ type: 'text', text: 'sorry' }] };
      case 'break':
        throw new McpError(ErrorCode.InternalError, 'broken\u200b');
      case 'show':
        return {
          content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
          structuredContent: { n: 1 },
        };
      default:
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            tell();
            resolve({ content: [] });
          });
        });
    }
  });
  const [here, there] = InMemoryTransport.createLinkedPair();
  client = new Client({ name: 'test', version: '1' });
  await Promise.all([server.connect(there), client.connect(here)]);
}

async function begin(options: Partial<FromMcpOptions> = {}, yes = true) {
  const tools: AnyTool[] = await fromMcp(client, { server: 'odd', ...options });
  world.setToolset(tools.map(({ name }) => name));
  runtime = await createToolRuntime({
    home: world.home,
    cwd: world.work,
    personality: 'clerk',
    tools,
    ...(yes && { approve: () => true }),
  });
  return runtime.session('s');
}

const say = (args: unknown) => [{ toolCallId: 'c', name: 'mcp__odd__say', args }];
const call = (tool: string) => [{ toolCallId: 'c', name: `mcp__odd__${tool}`, args: {} }];

beforeEach(async () => {
  world = createWorld();
  called = [];
  await connect();
});
afterEach(async () => {
  await runtime?.close();
  await client.close();
  world.remove();
});

describe('fromMcp', () => {
  it('names tools as the bridge of a runtime does, and leaves out what hides something', async () => {
    const held: unknown[] = [];
    const tools = await fromMcp(client, {
      server: 'odd server',
      onHeld: (tool) => held.push(tool),
    });
    expect(tools.map(({ name }) => name)).toEqual(
      ['say', 'fail', 'break', 'show', 'hang', 'lie'].map((tool) =>
        expect.stringMatching(new RegExp(`^mcp__odd_server-x[0-9a-f]{8}__${tool}$`)),
      ),
    );
    expect(tools.at(-1)?.description).toBe('ab');
    expect(held).toEqual([{ tool: 'sly', reason: expect.stringContaining('enum') }]);
  });

  it.each([
    ['no options', undefined],
    ['no name of the server, which could give itself a trusted one', { approval: false }],
    ['an empty name', { server: ' ' }],
    ['an option that there is not', { server: 'odd', aproval: false }],
    ['no answer about approval, which ran calls unasked', { server: 'odd', approval: null }],
    ['a time that is a text', { server: 'odd', timeoutMs: '5000' }],
    ['a time that is longer than timers take', { server: 'odd', timeoutMs: 1e12 }],
  ])('refuses %s', async (_, options) => {
    const loose: (client: Client, options: unknown) => unknown = Object(fromMcp);
    await expect(loose(client, options)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it.each([
    ['no list', { tools: 'x' }],
    ['too many tools', { tools: Array.from({ length: 300 }, (_, n) => ({ name: `t${n}` })) }],
    ['a list without end', { tools: [], nextCursor: 'x' }],
  ])('refuses %s', async (_, answer) => {
    const odd = { request: async () => Object(answer) };
    await expect(fromMcp(odd, { server: 'odd' })).rejects.toMatchObject({ code: 'TOOL_INVALID' });
  });

  it('is asked for, and does not run without a yes, whatever the server says of it', async () => {
    const session = await begin({}, false);
    expect(await session.execute(say({ text: 'a' }))).toMatchObject([
      { approval: { toolName: 'mcp__odd__say' } },
    ]);
    expect(await session.execute(call('lie'))).toMatchObject([{ approval: {} }]);
    expect(called).toEqual([]);
    const reach = await runtime.reach();
    expect(reach.every(({ unconfined }) => unconfined === true)).toBe(true);
  });

  it('runs after a yes, and its text is marked', async () => {
    const session = await begin();
    const [answer] = await session.execute(say({ text: 'hello' }));
    expect(answer?.result.ok).toBe(true);
    expect(answer?.text).toMatch(/untrusted.*said hello/is);
    expect(await session.sources()).toMatchObject([{ tool: 'mcp__odd__say' }]);
  });

  it('runs without being asked for where the host says so', async () => {
    const session = await begin({ approval: false }, false);
    expect((await session.execute(say({ text: 'a' })))[0]?.result.ok).toBe(true);
  });

  it.each([[{}], [{ text: 1 }], [null], ['x']])('is not called with %j', async (args) => {
    const session = await begin();
    expect(await session.execute(say(args))).toMatchObject([
      { result: { ok: false, code: 'input_invalid' } },
    ]);
    expect(called).toEqual([]);
  });

  it('makes a failed result of an error', async () => {
    const session = await begin();
    for (const [tool, text] of [
      ['fail', 'sorry'],
      ['break', 'broken'],
    ] as const) {
      const [answer] = await session.execute(call(tool));
      expect(answer?.result).toMatchObject({ ok: false, code: 'execution_failed' });
      expect(answer?.text).toContain(text);
      expect(answer?.text).not.toContain('\u200b');
    }
    await server.close();
    expect(await session.execute(say({ text: 'a' }))).toMatchObject([{ result: { ok: false } }]);
  });

  it('gives images and structured content', async () => {
    const session = await begin();
    const [answer] = await session.execute(call('show'));
    expect(answer?.images).toEqual([{ mediaType: 'image/png', data: PNG }]);
    expect(answer?.result).toMatchObject({ structured: { structuredContent: { n: 1 } } });
  });

  it('tells the server when the call is aborted', async () => {
    // Longer than the test, so that only the abort can end the request.
    const session = await begin({ timeoutMs: 3_600_000 });
    const controller = new AbortController();
    const running = session.execute(call('hang'), { abortSignal: controller.signal });
    await expect.poll(() => called.length).toBe(1);
    controller.abort();
    await cancelled;
    expect(await running).toMatchObject([{ result: { ok: false, cause: 'CALL_ABORTED' } }]);
  });
});
