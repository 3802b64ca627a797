import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import { countTries } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ExecuteOptions, ToolRuntime } from './runtime-api.js';
import type { RuntimeStores } from './stores/runtime-stores.js';
import { createToolRuntime } from './tool-runtime.js';

let world: string;
let work: string;
let runtime: ToolRuntime;
let audit: MemoryAuditSink;

beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-quotas-')));
  work = join(world, 'work');
  mkdirSync(work);
  audit = new MemoryAuditSink();
});
afterEach(async () => {
  await runtime.close();
  rmSync(world, { recursive: true, force: true });
});

function personality(id: string, quotas: string): void {
  const folder = join(world, 'home', 'personalities', id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const reach = 'fs_reach: {read: ["${CWD}"], write: ["${CWD}"]}';
  writeFileSync(
    join(folder, 'config.yaml'),
    `name: ${id}\n${reach}\nsafety:\n  quotas: ${quotas}\n`,
  );
}

const write = defineTool({
  name: 'write',
  description: 'Writes a file.',
  capabilities: { fs_reach: { write: 'from-personality' } },
  input: z.object({ name: z.string() }),
  async execute({ name }, ctx) {
    await ctx.scopedFs.write(join(work, name), name);
    return ok('written');
  },
});

const remember = defineTool({
  name: 'remember',
  description: 'Writes an entry.',
  capabilities: { storage: { scope: 'session', kind: 'kv', concurrency: 'parallel' } },
  input: z.object({ name: z.string() }),
  async execute({ name }, ctx) {
    await ctx.kvStore.set(name, 'value');
    return ok('written');
  },
});

async function start(stores?: RuntimeStores): Promise<void> {
  runtime = await createToolRuntime({
    ...(stores !== undefined && { stores }),
    home: join(world, 'home'),
    personality: 'coder',
    cwd: work,
    tools: [write, remember],
    audit,
    sessionId: 'first',
  });
}

/**
 * Calls a tool with several names at the same time. Returns how many calls succeeded, and the
 * errors of the others.
 */
async function use(tool: string, names: string[], options: ExecuteOptions = {}) {
  const calls = names.map((name, n) => ({ toolCallId: `${n}`, name: tool, args: { name } }));
  const results = (await runtime.execute(calls, options)).map(({ result }) => result);
  const errors = results.flatMap((result) => (result.ok ? [] : [result.error]));
  return { passed: results.length - errors.length, errors };
}

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`);

describe('safety.quotas of a personality file', () => {
  it('hold 100 calls of two batches at once to what the session has left', async (context) => {
    personality('coder', '{per_session: {files_written: 5}}');
    await start();
    const [one, two, other] = await Promise.all([
      use('write', names('a', 50)),
      use('write', names('b', 50)),
      use('write', names('c', 4), { sessionId: 'second' }),
    ]);
    expect([one.passed + two.passed, other.passed]).toEqual([5, 4]);
    expect(readdirSync(work)).toHaveLength(9);
    const denied = audit.events.filter(({ decision }) => decision === 'denied');
    expect(new Set(denied.map(({ reason }) => reason))).toEqual(
      new Set(['quota per_session.files_written']),
    );
    expect([denied.length, audit.events.length]).toEqual([95, 104]);
    for (const error of [...one.errors, ...two.errors]) {
      expect(error).toContain('raise safety.quotas.per_session.files_written');
    }
    countTries(context, 'quotas', 104);
  });

  it('count the entries of a real store', async () => {
    personality('coder', '{per_session: {store_bytes: 21}}');
    await start();
    expect((await use('remember', ['k1', 'k2', 'k3', 'k4'])).passed).toBe(3);
    expect((await use('remember', ['k1', 'k2', 'k3'])).passed).toBe(3);
    expect((await use('remember', ['k4', 'k5'], { sessionId: 'second' })).passed).toBe(2);
  });

  it('are the active personality’s, on what the session used before', async () => {
    personality('coder', '{per_session: {files_written: 3}}');
    personality('guest', '{per_session: {files_written: 1}}');
    await start();
    expect((await use('write', names('a', 2))).passed).toBe(2);
    await runtime.switchPersonality('guest');
    expect((await use('write', names('b', 2))).passed).toBe(0);
    await runtime.switchPersonality('coder');
    expect((await use('write', names('c', 2))).passed).toBe(1);
    personality('coder', '{per_session: {files_written: 5}}');
    expect((await use('write', names('d', 9))).passed).toBe(2);
    runtime.registry.forgetSession('first');
    expect((await use('write', names('e', 9))).passed).toBe(5);
  });

  it('count for every machine whose key-value store is the same, and after a restart', async () => {
    personality('coder', '{per_session: {files_written: 3}}');
    const path = join(world, 'shared.sqlite');
    const keyValue = {
      open: () => {
        const { kvStoreFactory: store, close } = createSqliteKvStore({ path });
        return { store, close };
      },
    };
    await start({ keyValue });
    const first = runtime;
    expect((await use('write', names('a', 2))).passed).toBe(2);
    await start({ keyValue });
    expect((await use('write', names('b', 2))).passed).toBe(1);
    await first.close();
    await runtime.close();
    await start({ keyValue });
    expect((await use('write', ['c'])).errors[0]).toContain('has used 3 of 3 files_written');
    await runtime.endSession('first');
    expect((await use('write', ['c'])).passed).toBe(1);
  });

  it('are shown beside what a tool can touch', async () => {
    personality('coder', '{per_call: {requests: 1}, per_session: {process_seconds: 0.5}}');
    await start();
    expect((await runtime.reach()).map(({ grant }) => grant.quotas)).toEqual(
      Array(2).fill({ per_call: { requests: 1 }, per_session: { process_seconds: 0.5 } }),
    );
  });

  it('of a file that went wrong while a call waited allow it nothing: it does not run', async () => {
    personality('coder', '{per_session: {store_bytes: 1000}}');
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const block = defineTool({
      name: 'block',
      description: 'Holds its place.',
      capabilities: {},
      input: z.object({}),
      async execute() {
        begin();
        await released;
        return ok('done');
      },
    });
    runtime = await createToolRuntime({
      home: join(world, 'home'),
      personality: 'coder',
      cwd: work,
      tools: [block, remember],
      audit,
      limits: { maxConcurrency: 1 },
    });
    const waiting = runtime.execute([
      { toolCallId: '1', name: 'block', args: {} },
      { toolCallId: '2', name: 'remember', args: { name: 'k' } },
    ]);
    await begun;
    personality('coder', '{per_sesion: {}}');
    expect((await use('remember', ['l'])).errors[0]).toContain('CONFIG_INVALID');
    release();
    expect(await waiting).toMatchObject([
      { result: { ok: true } },
      { result: { ok: false, error: expect.stringContaining('changed while it waited') } },
    ]);
  });
});
