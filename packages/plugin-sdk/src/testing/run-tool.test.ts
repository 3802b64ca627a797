import { createInMemoryKvStore, createInMemorySessionStore } from '@ethosagent/core';
import type { ToolCapabilities } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, err, ok } from '../tool-helpers.js';
import { createFakeClock } from './fake-clock.js';
import { createRecordingEmitter } from './recording-emitter.js';
import { runTool } from './run-tool.js';
import { createTestContext } from './test-context.js';

const fetchText = defineTool({
  name: 'fetch_text',
  description: 'Fetch a page.',
  input: z.object({ url: z.string() }),
  capabilities: { network: { allowedHosts: ['api.example.com'] }, secrets: ['api/key'] },
  async execute({ url }, ctx) {
    const key = await ctx.secretsResolver.get('api/key');
    ctx.emit({ type: 'progress', toolName: 'fetch_text', message: 'fetching' });
    const response = await ctx.scopedFetch.fetch(url, { headers: { authorization: key } });
    return response.ok ? ok(await response.text()) : err(`HTTP ${response.status}`);
  },
});

const readText = defineTool({
  name: 'read_text',
  description: 'Read a file.',
  input: z.object({ path: z.string() }),
  capabilities: { fs_reach: { read: 'from-personality', write: ['/out'] } },
  execute: async ({ path }, ctx) => ok(await ctx.scopedFs.read(path)),
});

const counter = defineTool({
  name: 'usage_counter',
  description: 'Count.',
  input: z.object({ topic: z.string() }),
  capabilities: { storage: { scope: 'tool-private', kind: 'kv' } },
  async execute({ topic }, ctx) {
    const count = Number((await ctx.kvStore.get(topic)) ?? 0) + 1;
    await ctx.kvStore.set(topic, String(count), { ttlSeconds: 60 });
    return ok(String(count));
  },
});

const gitStatus = defineTool({
  name: 'git_status',
  description: 'Status.',
  input: z.object({ binary: z.string().default('git') }),
  capabilities: { process: { allowedBinaries: ['git', 'hg'] } },
  async execute({ binary }, ctx) {
    const { stdout, exitCode } = await ctx.scopedProcess.spawn(binary, ['status'], { cwd: '/w' });
    return ok(`${exitCode} ${stdout}`);
  },
});

const secrets = { 'api/key': 'sk-live-0123456789' };

describe('runTool', () => {
  it.each(['https://api.example.com', 'GET https://api.example.com', 'https://API.example.com/'])(
    'takes the route %j as one writes it',
    async (route) => {
      const routes = { [route]: 'hi' };
      const { result } = await runTool(
        fetchText,
        { url: 'https://api.example.com/' },
        { secrets, routes },
      );
      expect(result).toMatchObject({ ok: true, value: expect.stringContaining('hi') });
    },
  );

  it('answers from the routes, keeps the events and requests, and audits', async () => {
    const run = await runTool(
      fetchText,
      { url: 'https://api.example.com/hello?x=1' },
      { secrets, routes: { 'GET https://api.example.com/hello': 'hi' } },
    );
    expect(run.result).toEqual(ok('hi'));
    expect(run.events).toMatchObject([{ toolName: 'fetch_text', message: 'fetching' }]);
    expect(run.requests.map(({ url }) => url)).toEqual(['https://api.example.com/hello?x=1']);
    expect(run.requests[0]?.headers.get('authorization')).toBe('sk-live-0123456789');
    expect(run.audit.map(({ capability, decision }) => [capability, decision])).toEqual([
      ['secrets', 'allowed'],
      ['network', 'allowed'],
    ]);
  });

  it('refuses what is no tool, as a runtime does, and an option that there is not', async () => {
    const run = (...args: unknown[]): Promise<unknown> => Reflect.apply(runTool, undefined, args);
    await expect(run(undefined, {})).rejects.toMatchObject({ code: 'TOOL_INVALID' });
    await expect(run({ ...readText, requiresAproval: true }, {})).rejects.toThrow(
      'read_text: `requiresAproval` is no property of a tool; write `requiresApproval`',
    );
    await expect(run(readText, {}, { file: { '/a': 'a' } })).rejects.toThrow(
      'options of the test: there is no option "file"; did you mean "files"?',
    );
  });

  it('denies a host that is not declared, and nothing is fetched', async () => {
    const routes = { 'https://evil.example/': 'pwned' };
    const run = await runTool(fetchText, { url: 'https://evil.example/' }, { secrets, routes });
    expect(run.result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^HOST_NOT_ALLOWED/),
    });
    expect(run.requests).toEqual([]);
    expect(run.audit.at(-1)).toMatchObject({ capability: 'network', decision: 'denied' });
  });

  it('denies a redirect to a host that is not declared', async () => {
    const routes = {
      'https://api.example.com/': () => Response.redirect('https://evil.example/', 302),
      'https://evil.example/': 'pwned',
    };
    const run = await runTool(fetchText, { url: 'https://api.example.com/' }, { secrets, routes });
    expect(run.result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^HOST_NOT_ALLOWED/),
    });
    expect(run.requests).toHaveLength(1);
  });

  it('denies a host outside the personality', async () => {
    const options = { secrets, networkAllow: ['other.example'], routes: {} };
    const run = await runTool(fetchText, { url: 'https://api.example.com/' }, options);
    expect(run.result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^HOST_NOT_ALLOWED/),
    });
  });

  it('answers 404 where there is no route', async () => {
    const run = await runTool(fetchText, { url: 'https://api.example.com/none' }, { secrets });
    expect(run.result).toEqual(err('HTTP 404'));
  });

  it('redacts a secret that the tool returns', async () => {
    const routes = {
      'https://api.example.com/': ({ headers }: Request) => `got ${headers.get('authorization')}`,
    };
    const run = await runTool(fetchText, { url: 'https://api.example.com/' }, { secrets, routes });
    expect(run.result).toEqual(ok('got [secret:api/key]'));
  });

  it('fails a tool whose secret the test does not have', async () => {
    const run = await runTool(fetchText, { url: 'https://api.example.com/' });
    expect(run.result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^SECRET_NOT_FOUND/),
    });
  });

  it.each<ToolCapabilities>([
    { network: { allowedHosts: ['https://x.com/a'] } },
    { secrets: ['a/../b'] },
    { fs_reach: { read: ['./a'] } },
    { process: { allowedBinaries: ['./x'] } },
  ])('refuses %j, as a runtime does', async (capabilities) => {
    const tool = defineTool({
      name: 'odd',
      description: 'Does nothing.',
      input: z.object({}),
      capabilities,
      execute: async () => ok('done'),
    });
    await expect(runTool(tool, {})).rejects.toMatchObject({ code: 'TOOL_INVALID' });
  });

  it('validates arguments as the registry does', async () => {
    expect((await runTool(fetchText, {})).result).toEqual(
      err('url: expected string, received undefined', 'input_invalid', 'INPUT_INVALID'),
    );
  });

  it.each([
    ['/workspace/a.txt', undefined, true],
    ['/etc/motd', undefined, false],
    ['/out/b.txt', undefined, false],
    ['/workspace/a.txt', { read: ['/elsewhere'], write: [] }, false],
  ])('reads %s under the reach %j: %s', async (path, fsReach, allowed) => {
    const files = { '/workspace/a.txt': 'alpha', '/etc/motd': 'motd', '/out/b.txt': 'b' };
    const run = await runTool(readText, { path }, { files, ...(fsReach && { fsReach }) });
    expect(run.result).toEqual(
      allowed
        ? ok('alpha')
        : expect.objectContaining({ error: expect.stringMatching(/^PATH_NOT_REACHABLE/) }),
    );
    expect(run.audit).toMatchObject([{ decision: allowed ? 'allowed' : 'denied', target: path }]);
  });

  it('keeps entries from run to run in a store that is passed in, until they expire', async () => {
    const clock = createFakeClock();
    const { kvStoreFactory } = createInMemoryKvStore({ clock: clock.now });
    const count = async () => (await runTool(counter, { topic: 't' }, { kvStoreFactory })).result;
    expect(await count()).toEqual(ok('1'));
    expect(await count()).toEqual(ok('2'));
    clock.advance(60_000);
    expect(await count()).toEqual(ok('1'));
    expect((await runTool(counter, { topic: 't' })).result).toEqual(ok('1'));
  });

  it('answers processes from the table', async () => {
    const run = await runTool(
      gitStatus,
      {},
      { processes: { git: (args) => ({ stdout: args.join() }) } },
    );
    expect(run.result).toEqual(ok('0 status'));
    expect(run.spawned).toEqual([{ binary: 'git', args: ['status'], opts: { cwd: '/w' } }]);
    expect(run.audit).toMatchObject([
      { capability: 'process', target: 'git', decision: 'allowed', toolName: 'git_status' },
    ]);
  });

  it.each([
    ['rm', 'BINARY_NOT_ALLOWED: rm is not in the declared allowedBinaries'],
    ['hg', 'SPAWN_FAILED: hg is not in the table of processes; add it'],
  ] as const)('starts no %s', async (binary, error) => {
    const run = await runTool(gitStatus, { binary }, { processes: { git: {}, rm: {} } });
    expect(run.result).toEqual(
      err(error, 'execution_failed', binary === 'rm' ? 'BINARY_NOT_ALLOWED' : 'SPAWN_FAILED'),
    );
    expect(run.spawned).toEqual([]);
  });

  it('hands attachments of the declared types over', async () => {
    const look = defineTool({
      name: 'look',
      description: 'Look.',
      schema: { type: 'object' },
      capabilities: { attachments: { mediaTypes: ['image/*'] } },
      execute: async (_args, ctx) => ok((await ctx.attachments.list()).map(({ id }) => id).join()),
    });
    const attachments = [
      { id: 'a', name: 'a.png', mediaType: 'image/png', sizeBytes: 1, bytes: Uint8Array.of(1) },
      { id: 'b', name: 'b.txt', mediaType: 'text/plain', sizeBytes: 1, bytes: Uint8Array.of(2) },
    ];
    expect((await runTool(look, {}, { attachments })).result).toEqual(ok('a'));
    expect(await look.execute({}, createTestContext(look, { attachments }).ctx)).toEqual(ok('a'));
  });

  it.each([
    [undefined, false],
    [() => true, true],
    [() => false, false],
  ])('asks %s before a call that requires approval', async (approve, runs) => {
    const risky = defineTool({
      name: 'risky',
      description: 'Risky.',
      input: z.object({ n: z.number().default(2) }),
      capabilities: {},
      requiresApproval: ({ n }) => n > 1,
      execute: async () => ok('ran'),
    });
    expect((await runTool(risky, { n: 1 })).result).toEqual(ok('ran'));
    const { result } = await runTool(risky, {}, approve && { approve });
    expect(result).toMatchObject(runs ? { value: 'ran' } : { code: 'not_available' });
  });

  it('passes fields of the context on', async () => {
    const who = defineTool({
      name: 'who',
      description: 'Who.',
      schema: { type: 'object' },
      capabilities: {},
      execute: async (_args, ctx) =>
        ok(`${ctx.personalityId} ${ctx.currentTurn} ${ctx.workingDir}`),
    });
    const context = { personalityId: 'researcher', currentTurn: 7 };
    expect((await runTool(who, {}, { context })).result).toEqual(ok('researcher 7 /workspace'));
  });
});

describe('createTestContext', () => {
  const accessors = [
    'attachments',
    'kvStore',
    'scopedFetch',
    'scopedFs',
    'scopedProcess',
    'secretsResolver',
    'storage',
  ];
  const cases: [ToolCapabilities, string[]][] = [
    [{}, []],
    [{ network: { allowedHosts: ['*'] } }, ['scopedFetch']],
    [{ secrets: ['k'] }, ['secretsResolver']],
    [{ storage: { scope: 'session', kind: 'kv' } }, ['kvStore']],
    [{ fs_reach: { read: ['/data'] } }, ['scopedFs']],
    [{ process: { allowedBinaries: ['git'] } }, ['scopedProcess']],
    [{ attachments: {} }, ['attachments']],
  ];

  it.each(cases)('%j gives %j and no other accessor', (capabilities, expected) => {
    const { ctx } = createTestContext(capabilities);
    expect(accessors.filter((name) => name in ctx)).toEqual(expected);
  });

  it('calls a tool directly, over accessors that deny', async () => {
    const { ctx, requests } = createTestContext(fetchText, {
      secrets,
      routes: { 'https://api.example.com/': 'direct' },
    });
    expect(await fetchText.execute({ url: 'https://api.example.com/' }, ctx)).toEqual(ok('direct'));
    await expect(fetchText.execute({ url: 'https://evil.example/' }, ctx)).rejects.toMatchObject({
      code: 'HOST_NOT_ALLOWED',
    });
    await expect(ctx.secretsResolver?.get('other')).rejects.toMatchObject({
      code: 'SECRET_NOT_DECLARED',
    });
    expect(requests).toHaveLength(1);
  });

  it('ends a request whose route never answers, as a real one, when its signal fires', async () => {
    const { ctx } = createTestContext(fetchText, {
      routes: { 'https://api.example.com/': () => new Promise<string>(() => {}) },
    });
    const reason = new Error('enough');
    const controller = new AbortController();
    const pending = ctx.scopedFetch?.fetch('https://api.example.com/', {
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(reason), 10);
    await expect(pending).rejects.toBe(reason);
  });

  it('denies files, binaries and attachments that were not declared', async () => {
    const { ctx, storage, spawned } = createTestContext(
      {
        fs_reach: { read: ['/data'], write: ['/out'] },
        process: { allowedBinaries: ['git'] },
        attachments: { mediaTypes: ['image/png'] },
      },
      {
        files: { '/data/a': 'a', '/database/b': 'b' },
        attachments: [{ id: 't', name: 't', mediaType: 'text/plain', sizeBytes: 0 }],
      },
    );
    expect(await ctx.scopedFs?.read('/data/a')).toBe('a');
    await ctx.scopedFs?.write('/out/new', 'n');
    expect(await storage.read('/out/new')).toBe('n');
    const denied = { code: 'PATH_NOT_REACHABLE' };
    await expect(ctx.scopedFs?.read('/database/b')).rejects.toMatchObject(denied);
    await expect(ctx.scopedFs?.write('/data/a', 'x')).rejects.toMatchObject(denied);
    await expect(ctx.scopedProcess?.spawn('rm', [])).rejects.toMatchObject({
      code: 'BINARY_NOT_ALLOWED',
    });
    await expect(ctx.attachments?.read('t')).rejects.toMatchObject({
      code: 'ATTACHMENT_NOT_AVAILABLE',
    });
    expect(spawned).toEqual([]);
  });
});

describe('createFakeClock', () => {
  it('stands still until advanced', () => {
    const clock = createFakeClock(1_000);
    expect(clock.now()).toBe(1_000);
    clock.advance(500);
    expect(clock.now()).toBe(1_500);
    clock.advance(-1_500);
    expect(clock.now()).toBe(0);
  });

  it('starts at a fixed time of its own', () => {
    expect(createFakeClock().now()).toBe(createFakeClock().now());
  });
});

describe('createRecordingEmitter', () => {
  it('keeps events in order', () => {
    const { emit, events } = createRecordingEmitter();
    const event = (message: string) => ({ type: 'progress', toolName: 't', message }) as const;
    emit(event('one'));
    emit(event('two'));
    expect(events.map(({ message }) => message)).toEqual(['one', 'two']);
  });
});

const recall = defineTool({
  name: 'recall',
  description: 'Recall.',
  input: z.object({ words: z.string() }),
  settings: z.strictObject({ section: z.string().default('Notes') }),
  capabilities: { memory: { access: 'read-write' }, sessions: { access: 'read' } },
  async execute({ words }, { memory, sessions, settings }) {
    const found = await sessions.search(words);
    await memory.change({ kind: 'add', section: settings.section, text: words });
    const { sections } = await memory.read();
    return ok(JSON.stringify([sections, found.map(({ snippet }) => snippet)]));
  },
});

describe('a tool with memory and sessions', () => {
  const sessions = createInMemorySessionStore();
  const mine = { id: 's', scopeId: 'personality:p' };

  it('gets what the test puts there, and says what it left', async () => {
    await sessions.append(mine, [{ role: 'user', text: 'buy tea' }]);
    const run = await runTool(
      recall,
      { words: 'tea' },
      { sessions, context: { personalityId: 'p' }, settings: { section: 'Heard' } },
    );
    expect(run.result).toEqual(ok('[[{"heading":"Heard","text":"tea"}],["buy [tea]"]]'));
    expect((await run.memory.read('personality:p')).sections).toHaveLength(1);
    expect(run.audit.map(({ capability }) => capability)).toEqual(['sessions', 'memory', 'memory']);
    const again = await runTool(
      recall,
      { words: 'milk' },
      { memory: run.memory, context: { personalityId: 'p' } },
    );
    expect(again.result).toMatchObject({ value: expect.stringContaining('"Notes"') });
  });

  it('gets a context for a direct call', async () => {
    const { ctx, memory } = createTestContext(recall, { context: { personalityId: 'p' } });
    expect(await recall.execute({ words: 'tea' }, ctx)).toMatchObject({ ok: true });
    expect((await memory.read('personality:p')).sections).toEqual([
      { heading: 'Notes', text: 'tea' },
    ]);
  });
});

describe('settings of a tool under test', () => {
  const greet = defineTool({
    name: 'greet',
    description: 'Greet.',
    input: z.object({}),
    settings: z.strictObject({ words: z.strictObject({ hello: z.string() }).optional() }),
    capabilities: {},
    execute: async (_args, { settings }) => ok(JSON.stringify(settings)),
  });

  it.each([
    [undefined, '{}'],
    [{ words: { hello: 'Hoi' } }, '{"words":{"hello":"Hoi"}}'],
  ])('%j reach it, parsed', async (settings, expected) => {
    const options = settings && { settings };
    expect((await runTool(greet, {}, options)).result).toEqual(ok(expected));
    expect(await greet.execute({}, createTestContext(greet, options).ctx)).toEqual(ok(expected));
  });

  it.each([
    [{ words: { hello: 1 } }, 'settings.words.hello: '],
    [{ world: 1 }, 'settings: '],
  ])('%j are refused, where they are wrong', async (settings, where) => {
    expect(() => createTestContext(greet, { settings })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(where),
      }),
    );
    const { result } = await runTool(greet, {}, { settings });
    expect(result).toMatchObject({
      code: 'not_available',
      error: expect.stringContaining(where.replace('settings', 'tool_settings.greet')),
    });
  });
});
