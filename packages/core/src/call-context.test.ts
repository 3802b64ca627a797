import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/audit';
import { FsStorage } from '@ethosagent/storage-fs';
import type { Storage, ToolCapabilities, ToolContext } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CapabilityBackends } from './backends.js';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { makeTool, ok, rejection, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const root = mkdtempSync(join(tmpdir(), 'call-context-'));
beforeAll(() => {
  for (const folder of ['a', 'b', 'denied']) {
    mkdirSync(join(root, folder));
    writeFileSync(join(root, folder, 'file'), folder);
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const ACCESSORS = [
  'storage',
  'kvStore',
  'secretsResolver',
  'scopedFetch',
  'scopedFs',
  'scopedProcess',
  'attachments',
];

const backends = (): CapabilityBackends => ({
  kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
  secretsBackend: async () => 'value',
  storage: new FsStorage(),
  personalityFsReach: { read: [root], write: [root] },
  personalityNetworkAllow: ['example.com'],
});

/** Runs `look` inside a tool, and returns its result. */
async function inTool<T>(
  capabilities: ToolCapabilities,
  ctx: object,
  look: (ctx: ToolContext) => T | Promise<T>,
  using: CapabilityBackends = backends(),
): Promise<T> {
  const found: T[] = [];
  const registry = new DefaultToolRegistry(using);
  registry.register(
    makeTool(
      't',
      async (_args, context) => {
        found.push(await look(context));
        return ok('');
      },
      { capabilities },
    ),
  );
  const result = await runOne(registry, 't', {}, ctx);
  const [first] = found;
  if (first === undefined) throw new Error(JSON.stringify(result));
  return first;
}

const present = (ctx: object) => ACCESSORS.filter((name) => name in ctx);

describe('the context of a tool that declares {}', () => {
  it('has no accessor, whatever the backends and the caller offer', async () => {
    const planted = Object.fromEntries(ACCESSORS.map((name) => [name, { planted: true }]));
    expect(
      await inTool({}, { ...planted, storage: new FsStorage(), readMtimes: new Map() }, present),
    ).toEqual([]);
  });

  it('is an object of its own properties, so that a tool may spread it', async () => {
    const names = await inTool({ secrets: ['a'] }, {}, (ctx) => Object.keys({ ...ctx }));
    expect(names).toEqual(
      expect.arrayContaining(['sessionId', 'emit', 'abortSignal', 'secretsResolver']),
    );
  });

  it('does not carry what a caller put beside the known fields', async () => {
    expect(
      await inTool(
        {},
        { token: 'x', __internal: 1 },
        (ctx) => 'token' in ctx || '__internal' in ctx,
      ),
    ).toBe(false);
  });
});

describe('planted accessors', () => {
  it('do not replace those that were declared', async () => {
    const planted = { secretsResolver: { get: async () => 'planted' } };
    expect(await inTool({ secrets: ['a'] }, planted, (ctx) => ctx.secretsResolver?.get('a'))).toBe(
      'value',
    );
  });

  it('do not stand in where the backend is missing', async () => {
    const planted = { secretsResolver: { get: async () => 'planted' }, kvStore: {} };
    expect(
      await inTool(
        { secrets: ['a'], storage: { scope: 'session', kind: 'kv' } },
        planted,
        present,
        {},
      ),
    ).toEqual([]);
  });
});

describe('ctx.storage', () => {
  const both = { read: 'from-personality', write: 'from-personality' } as const;

  it('is absent without fs_reach', async () => {
    expect(
      await inTool({ secrets: ['a'] }, { storage: new FsStorage() }, (ctx) => 'storage' in ctx),
    ).toBe(false);
  });

  it('is absent when the turn has none', async () => {
    expect(await inTool({ fs_reach: both }, {}, (ctx) => 'storage' in ctx)).toBe(false);
  });

  it.each<[string, ToolCapabilities['fs_reach'], [readA: string, readB: string, writeA: string]]>([
    ['the personality’s reach both ways', both, ['a', 'b', 'written']],
    [
      'read from the personality, no write',
      { read: 'from-personality' },
      ['a', 'b', 'PATH_NOT_REACHABLE'],
    ],
    [
      'read of one folder',
      { read: [join(root, 'a')] },
      ['a', 'PATH_NOT_REACHABLE', 'PATH_NOT_REACHABLE'],
    ],
    [
      'write of one folder',
      { write: [join(root, 'a')] },
      ['PATH_NOT_REACHABLE', 'PATH_NOT_REACHABLE', 'written'],
    ],
    [
      'a folder outside the personality',
      { read: ['/etc'] },
      ['PATH_NOT_REACHABLE', 'PATH_NOT_REACHABLE', 'PATH_NOT_REACHABLE'],
    ],
    ['nothing', {}, ['PATH_NOT_REACHABLE', 'PATH_NOT_REACHABLE', 'PATH_NOT_REACHABLE']],
  ])('is narrowed for %s', async (_name, fs_reach, expected) => {
    const code = async (run: Promise<unknown> | undefined) =>
      Promise.resolve(run).then(
        (value) => value ?? 'written',
        (error: unknown) => Reflect.get(Object(error), 'code'),
      );
    const found = await inTool(
      fs_reach === undefined ? {} : { fs_reach },
      { storage: new FsStorage() },
      async ({ storage }) => [
        await code(storage?.read(join(root, 'a', 'file'))),
        await code(storage?.read(join(root, 'b', 'file'))),
        await code(storage?.write(join(root, 'a', 'new'), 'x')),
      ],
    );
    expect(found).toEqual(expected);
  });

  it('is held to the personality though the turn’s storage is not', async () => {
    const outside = await inTool({ fs_reach: both }, { storage: new FsStorage() }, (ctx) =>
      rejection(Promise.resolve(ctx.storage?.read('/etc/hostname'))),
    );
    expect(outside).toMatchObject({ code: 'PATH_NOT_REACHABLE' });
  });

  it('is the call’s own: what a tool does to it reaches no other call', async () => {
    const storage = new FsStorage();
    await inTool({ fs_reach: both }, { storage }, (ctx) =>
      Object.assign(Object(ctx.storage), { read: async () => 'poison' }),
    );
    const read = await inTool({ fs_reach: both }, { storage }, (ctx) =>
      ctx.storage?.read(join(root, 'a', 'file')),
    );
    expect(read).toBe('a');
  });

  it('reports every access, allowed or denied, and none is possible after the call', async () => {
    const audit = new MemoryAuditSink();
    let kept: Storage | undefined;
    await inTool(
      { fs_reach: both },
      { storage: new FsStorage() },
      async ({ storage }) => {
        kept = storage;
        await storage?.read(join(root, 'a', 'file'));
        await storage?.write(join(root, 'a', 'noted'), 'x');
        await storage?.read('/etc/hostname').catch(() => {});
        return true;
      },
      { ...backends(), audit },
    );
    expect(
      audit.events.map(({ capability, operation, decision }) => [capability, operation, decision]),
    ).toEqual([
      ['fs_reach.read', 'read', 'allowed'],
      ['fs_reach.write', 'write', 'allowed'],
      ['fs_reach.read', 'read', 'denied'],
    ]);
    const late = rejection(Promise.resolve(kept?.write(join(root, 'a', 'late'), 'x')));
    expect(await late).toMatchObject({ code: 'CALL_ENDED' });
    expect(existsSync(join(root, 'a', 'late'))).toBe(false);
  });

  it('is held by real paths where it has no contained view', async () => {
    const storage: Storage = Object.assign(new FsStorage(), { contained: undefined });
    const [inside, outside] = await inTool(
      { fs_reach: { read: [join(root, 'a')] } },
      { storage },
      async (ctx) => [
        await ctx.storage?.read(join(root, 'a', 'file')),
        await rejection(Promise.resolve(ctx.storage?.read(join(root, 'denied', 'file')))),
      ],
    );
    expect(inside).toBe('a');
    expect(outside).toMatchObject({ code: 'PATH_NOT_REACHABLE' });
  });

  it('and scopedFs refuse a path that the operator denies later', async () => {
    const denyPaths: string[] = [];
    const registry = new DefaultToolRegistry({ ...backends(), denyPaths });
    const path = join(root, 'denied', 'file');
    registry.register(
      makeTool('t', async (_args, { scopedFs }) => ok(String(await scopedFs?.read(path))), {
        capabilities: { fs_reach: { read: [root] } },
      }),
    );
    expect(await runOne(registry, 't')).toEqual(ok('denied'));
    denyPaths.push(join(root, 'denied'));
    expect(await runOne(registry, 't')).toMatchObject({ cause: 'PATH_NOT_REACHABLE' });
  });

  it('and scopedFs keep the operator’s deny list', async () => {
    const denyPaths = [join(root, 'denied')];
    const errors = await inTool(
      { fs_reach: { read: [root] } },
      { storage: new FsStorage() },
      async (ctx) => [
        await rejection(Promise.resolve(ctx.storage?.read(join(root, 'denied', 'file')))),
        await rejection(Promise.resolve(ctx.scopedFs?.read(join(root, 'denied', 'file')))),
      ],
      { ...backends(), denyPaths },
    );
    expect(errors).toEqual(
      errors.map(() => expect.objectContaining({ code: 'PATH_NOT_REACHABLE' })),
    );
  });
});
