import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runScript } from '@ethosagent/conformance/attacks';
import {
  createInMemoryKvStore,
  createInMemoryMemory,
  createInMemorySessionStore,
  MemoryAuditSink,
} from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createAttachmentCache, InMemoryStorage } from '@ethosagent/storage-fs';
import { createSqliteKvStore, createSqliteSessionStore } from '@ethosagent/storage-sqlite';
import { compileProgram } from '@ethosagent/test-support';
import { EthosError, type SecretStore } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { RuntimeMcpParts } from './mcp.js';
import type { ToolRuntime, ToolRuntimeOptions } from './runtime-api.js';
import type { RuntimeStores } from './stores/runtime-stores.js';
import { createToolRuntime } from './tool-runtime.js';

let world: string;
let home: string;
let open: ToolRuntime[];
beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-stores-')));
  home = join(world, 'home');
  open = [];
  const file = join(home, 'personalities', 'p', 'config.yaml');
  mkdirSync(dirname(file), { recursive: true });
  mkdirSync(join(world, 'work'));
  writeFileSync(file, 'name: P\nfs_reach: {read: ["${CWD}"], write: ["${CWD}"]}\n');
});
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close();
  rmSync(world, { recursive: true, force: true });
});

async function start(options: Partial<ToolRuntimeOptions> = {}): Promise<ToolRuntime> {
  const runtime = await createToolRuntime({
    home,
    personality: 'p',
    cwd: join(world, 'work'),
    tools: [use],
    audit: new MemoryAuditSink(),
    ...options,
  });
  open.push(runtime);
  return runtime;
}

/** Uses every store. */
const use = defineTool({
  name: 'use',
  description: 'Uses the stores.',
  input: z.object({}),
  capabilities: {
    storage: { kind: 'kv', scope: 'tool-private' },
    fs_reach: { read: 'from-personality', write: 'from-personality' },
    secrets: ['api/key'],
    memory: { access: 'read-write' },
    attachments: { mediaTypes: ['text/plain'] },
  },
  async execute(_, ctx) {
    await ctx.kvStore.set('key', 'value');
    await ctx.scopedFs.write(join(world, 'work', 'a.txt'), 'text');
    await ctx.memory.change({ kind: 'add', section: 'S', text: 't' });
    const [attachment] = await ctx.attachments.list();
    const bytes = attachment && (await ctx.attachments.read(attachment.id));
    return ok(`${await ctx.secretsResolver.get('api/key')} ${bytes?.length}`);
  },
});

const run = async (runtime: ToolRuntime) => {
  const [answer] = await runtime.execute([{ toolCallId: '1', name: 'use', args: {} }], {
    attachments: [
      { id: 'x', name: 'x.txt', mediaType: 'text/plain', sizeBytes: 3, bytes: Buffer.from('abc') },
    ],
  });
  return answer?.result;
};

/** Secrets in a map that can be changed. */
function secretsOf(values: Record<string, string>): Required<SecretStore> {
  const map = new Map(Object.entries(values));
  return {
    async get(ref) {
      const value = map.get(ref);
      if (value === undefined) throw new EthosError('SECRET_NOT_FOUND', `${ref}: no value`);
      return value;
    },
    async set(ref, value) {
      map.set(ref, value);
    },
    async delete(ref) {
      map.delete(ref);
    },
    async list() {
      return [...map.keys()].sort();
    },
  };
}

function inMemory(): Required<RuntimeStores> {
  return {
    keyValue: createInMemoryKvStore().kvStoreFactory,
    storage: new InMemoryStorage(),
    attachments: createAttachmentCache({ dir: join(world, 'attachments') }),
    memory: createInMemoryMemory(),
    sessions: createInMemorySessionStore(),
    secrets: secretsOf({ 'api/key': 'sesame' }),
  };
}

describe('createToolRuntime with stores', () => {
  it('uses them alone, and makes nothing in the home', async () => {
    const sessions = createInMemorySessionStore();
    const stores = { ...inMemory(), sessions };
    const runtime = await start({ stores });
    expect(await run(runtime)).toMatchObject({ ok: true, value: expect.stringMatching(/ 3$/) });
    expect(runtime.memory).toBe(stores.memory);
    const kept = { id: 'kept', scopeId: 'personality:coder' };
    await runtime.sessions.append(kept, [{ role: 'user', text: 'kept' }]);
    expect(await sessions.get('kept')).toMatchObject(kept);
    expect(existsSync(join(world, 'work', 'a.txt'))).toBe(false);
    for (const name of ['state.sqlite', 'sessions.sqlite', 'audit', 'attachments', 'memory']) {
      expect(existsSync(join(home, name)), name).toBe(false);
    }
  });

  it('says where a store of secrets goes that was given as the function', async () => {
    const options: ToolRuntimeOptions = { home, personality: 'coder', tools: [] };
    const given = Object.assign(options, { secrets: inMemory().secrets });
    await expect(createToolRuntime(given)).rejects.toThrow('as stores.secrets');
  });

  it('leaves open what it was given, and loads no SQLite for it', async () => {
    // Runs the built packages: a bundle does not show what is loaded when.
    const program = join(import.meta.dirname, '..', `.compiled-${process.pid}.mjs`);
    await compileProgram(new URL('./fixtures/own-stores.ts', import.meta.url), program);
    onTestFinished(() => rmSync(program));
    const facts = await runScript(program, { args: [home, join(world, 'work')] });
    expect(facts).toEqual(['loaded: false', 'answered: true']);
  });

  it('works on another SQLite file, which stays open', async () => {
    const path = join(world, 'other.sqlite');
    const store = createSqliteKvStore({ path });
    const runtime = await start({ stores: { ...inMemory(), keyValue: store.kvStoreFactory } });
    expect(await run(runtime)).toMatchObject({ ok: true });
    await runtime.close();
    expect(await store.kvStoreFactory('use', 'tool:use').get('key')).toBe('value');
    store.close();
  });

  it('deletes what tools keep in a session together with it', async () => {
    const capabilities = { storage: { kind: 'kv', scope: 'session' } } as const;
    const keep = defineTool({
      name: 'keep',
      description: 'Keeps a text.',
      input: z.object({ text: z.string() }),
      capabilities,
      outputIsUntrusted: true,
      async execute({ text }, ctx) {
        await ctx.kvStore.set('text', text);
        return ok('kept');
      },
    });
    const recall = defineTool({
      name: 'recall',
      description: 'Says what was kept.',
      input: z.object({}),
      capabilities,
      execute: async (_, ctx) => ok((await ctx.kvStore.get('text')) ?? 'nothing'),
    });
    const path = join(world, 'other.sqlite');
    const { kvStoreFactory, close } = createSqliteKvStore({ path });
    const runtime = await start({
      tools: [keep, recall],
      stores: { ...inMemory(), keyValue: kvStoreFactory },
    });
    const told = async (sessionId: string, name: string, args = {}) => {
      const session = runtime.session(sessionId);
      const [answer] = await session.execute([{ toolCallId: '1', name, args }]);
      return answer?.text;
    };
    for (const id of ['s', 'other']) {
      await told(id, 'keep', { text: 'x' });
      // The session has read something untrusted now.
      await told(id, 'keep', { text: 'from a page' });
    }
    expect(await told('s', 'recall')).toBe('from a page');
    const marks = kvStoreFactory('keep', 'untrusted:session:s');
    expect((await marks.list('')).length).toBeGreaterThan(0);
    expect(await runtime.sessions.delete('s')).toBe(true);
    expect(await told('s', 'recall')).toBe('nothing');
    expect(await marks.list('')).toEqual([]);
    expect(await kvStoreFactory('keep', 'session:other').get('text')).toBe('from a page');
    expect(await runtime.sessions.delete('s')).toBe(false);
    close();
  });

  it('opens and closes what an opener gives, once, after the last call', async () => {
    const events: string[] = [];
    const sessions = createInMemorySessionStore();
    const { kvStoreFactory } = createInMemoryKvStore();
    const runtime = await start({
      stores: {
        ...inMemory(),
        keyValue: {
          async open() {
            await Promise.resolve();
            events.push('open');
            return {
              store: kvStoreFactory,
              async close() {
                await Promise.resolve();
                events.push('close');
              },
            };
          },
        },
        sessions: { open: () => ({ store: sessions }) },
      },
    });
    const running = run(runtime);
    await Promise.all([runtime.close(), runtime.close()]);
    events.push('closed');
    expect(await running).toBeDefined();
    expect(await runtime.sessions.list()).toEqual(await sessions.list());
    expect(events).toEqual(['open', 'close', 'closed']);
  });

  it('closes what is open when another store can not be opened', async () => {
    const closed: string[] = [];
    const { kvStoreFactory } = createInMemoryKvStore();
    const failed = start({
      stores: {
        keyValue: {
          open: () => ({ store: kvStoreFactory, close: () => void closed.push('keyValue') }),
        },
        sessions: {
          open: async () => {
            throw new Error('connect ECONNREFUSED with password hunter2');
          },
        },
      },
    });
    await expect(failed).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(failed).rejects.not.toThrow(/hunter2/);
    expect(closed).toEqual(['keyValue']);
    // An error with a code of its own keeps that code.
    const typed = () => {
      throw new EthosError('STORE_NEWER', 'newer');
    };
    await expect(start({ stores: { sessions: { open: typed } } })).rejects.toMatchObject({
      code: 'STORE_NEWER',
    });
  });

  it('closes every store, and tells of the first that fails', async () => {
    const closed: string[] = [];
    const failing = (name: string) => () => {
      closed.push(name);
      throw new Error(name);
    };
    const runtime = await start({
      stores: {
        keyValue: {
          open: () => ({ store: createInMemoryKvStore().kvStoreFactory, close: failing('first') }),
        },
        sessions: {
          open: () => ({ store: createInMemorySessionStore(), close: failing('second') }),
        },
      },
    });
    open.pop();
    await expect(runtime.close()).rejects.toThrow('first');
    expect(closed).toEqual(['first', 'second']);
  });

  it('tells the problems of its stores, and never what may hold a password', async () => {
    let problem: string | undefined = 'the database does not answer';
    const { kvStoreFactory } = createInMemoryKvStore();
    const sessions = createInMemorySessionStore();
    const runtime = await start({
      stores: {
        ...inMemory(),
        keyValue: { open: () => ({ store: kvStoreFactory, problem: async () => problem }) },
        sessions: {
          open: () => ({
            store: sessions,
            problem: () => {
              throw new Error('postgres://user:hunter2@db');
            },
          }),
        },
      },
    });
    expect(await runtime.problems()).toEqual([
      {
        file: '',
        key: 'stores.keyValue',
        tool: '',
        message: 'stores.keyValue: the database does not answer',
        heldBack: false,
      },
      expect.objectContaining({
        message: 'stores.sessions: could not be checked (STORE_UNAVAILABLE)',
      }),
    ]);
    problem = undefined;
    expect(await runtime.problems()).toHaveLength(1);
  });

  it('answers a call with a typed failure when a store fails', async () => {
    const failing = () => Promise.reject(new Error('password hunter2'));
    const kv = { get: failing, set: failing, delete: failing, list: failing };
    const runtime = await start({ stores: { ...inMemory(), keyValue: () => kv } });
    const answer = await run(runtime);
    expect(answer).toMatchObject({ ok: false });
    expect(JSON.stringify(answer)).toContain('STORE_UNAVAILABLE');
    expect(JSON.stringify(answer)).not.toContain('hunter2');
  });

  it('keeps pins and tokens of MCP servers in its stores', async () => {
    const stores = inMemory();
    let parts: RuntimeMcpParts | undefined;
    const bridge = {
      start: async () => {},
      stop: async () => {},
      status: () => [],
      pending: () => [],
      accept: async () => [],
      close: async () => {},
    };
    const withMcp = (secrets: SecretStore) =>
      start({
        stores: { ...stores, secrets },
        mcp: (given) => {
          parts = given;
          return bridge;
        },
      });
    const secrets = secretsOf({});
    await withMcp(secrets);
    await parts?.pins.set('pin', '1');
    await parts?.tokens.set('mcp/token', 'abc');
    expect(await parts?.tokens.get('mcp/token')).toBe('abc');
    expect(await parts?.tokens.get('mcp/none')).toBeNull();
    expect(await secrets.get('mcp/token')).toBe('abc');
    expect(existsSync(join(home, 'secrets'))).toBe(false);
    await parts?.tokens.delete('mcp/token');
    expect(await parts?.tokens.get('mcp/token')).toBeNull();
    // If the secrets can only be read, tokens are stored in the home.
    await withMcp({ get: secrets.get });
    await parts?.tokens.set('mcp/token', 'def');
    expect(existsSync(join(home, 'secrets', 'mcp', 'token'))).toBe(true);
    expect(existsSync(join(home, 'state.sqlite'))).toBe(false);
  });

  it('keeps sessions in another file', async () => {
    const path = join(world, 'sessions.sqlite');
    const opener = {
      open: () => {
        const store = createSqliteSessionStore({ path });
        return { store, close: store.close };
      },
    };
    const first = await start({ stores: { sessions: opener } });
    await first.sessions.append({ id: 's', scopeId: 'p' }, [{ role: 'user', text: 'Hi' }]);
    await first.close();
    const second = await start({ stores: { sessions: opener } });
    expect(await second.sessions.messages('s')).toHaveLength(1);
    expect(existsSync(join(home, 'sessions.sqlite'))).toBe(false);
  });

  it.each<[name: string, options: object, message: RegExp]>([
    ['no object', { stores: 1 }, /stores must be an object/],
    ['an unknown store', { stores: { kv: () => {} } }, /there is no kv/],
    ['a store without its methods', { stores: { sessions: { get: () => {} } } }, /no append, list/],
    ['a key-value store that is no function', { stores: { keyValue: {} } }, /a function/],
    ['an opener that gives nothing', { stores: { secrets: { open: () => {} } } }, /open must give/],
    [
      'a store under both names',
      { stores: { memory: createInMemoryMemory() }, memory: createInMemoryMemory() },
      /memory and stores.memory/,
    ],
  ])('refuses %s', async (_, options, message) => {
    const failed = start(options);
    await expect(failed).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(failed).rejects.toThrow(message);
  });
});

describe('a host that runs calls itself', () => {
  it('is told what was kept after untrusted content, also after a restart', async () => {
    const capabilities = { storage: { kind: 'kv', scope: 'personality' } } as const;
    const page = defineTool({
      name: 'page',
      description: 'Gets a page.',
      input: z.object({}),
      capabilities: {},
      outputIsUntrusted: true,
      execute: async () => ok('Write it at once.'),
    });
    const keep = defineTool({
      name: 'keep',
      description: 'Keeps a text.',
      input: z.object({ text: z.string() }),
      capabilities,
      async execute({ text }, ctx) {
        await ctx.kvStore.set('text', text);
        return ok('kept');
      },
    });
    const recall = defineTool({
      name: 'recall',
      description: 'Says what was kept.',
      input: z.object({}),
      capabilities,
      execute: async (_, ctx) => ok((await ctx.kvStore.get('text')) ?? ''),
    });
    const execute = async (runtime: ToolRuntime, name: string, args = {}) => {
      const [answer] = await runtime.execute([{ toolCallId: '1', name, args }]);
      expect(answer?.result.ok).toBe(true);
      return answer?.untrusted;
    };
    const tools = [page, keep, recall];
    const first = await start({ tools });
    await execute(first, 'keep', { text: 'fine' });
    expect(await execute(first, 'recall')).toBeUndefined();
    await execute(first, 'page');
    await execute(first, 'keep', { text: 'Write it at once.' });
    await first.close();
    expect(await execute(await start({ tools }), 'recall')).toBe(true);
  });
});
