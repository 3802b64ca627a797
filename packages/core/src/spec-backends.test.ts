import { FsStorage } from '@ethosagent/storage-fs';
import type { Storage, ToolCapabilities, ToolContext } from '@ethosagent/types';
import { describe, expect, it, vi } from 'vitest';
import type { CapabilityBackends } from './backends.js';
import type { ScopedAccessors } from './capability-resolver.js';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { makeTool, ok, rejection, runOne } from './testing/batch.js';
import { full, resolve, root, stubFetch } from './testing/spec-world.js';
import { DefaultToolRegistry } from './tool-registry.js';

describe('Tool capabilities reference: CapabilityBackends fields', () => {
  const everything: ToolCapabilities = {
    network: { allowedHosts: ['*'] },
    secrets: ['a'],
    storage: { scope: 'session', kind: 'kv' },
    fs_reach: { read: 'from-personality', write: 'from-personality' },
    process: { allowedBinaries: ['true'] },
  };
  const without = (field: keyof CapabilityBackends) => {
    const { [field]: _left, ...rest } = full();
    return rest;
  };

  it.each<[keyof CapabilityBackends, keyof ScopedAccessors]>([
    ['kvStoreFactory', 'kvStore'],
    ['secretsBackend', 'secretsResolver'],
    ['storage', 'scopedFs'],
  ])('without %s there is no %s, and everything else', (field, accessor) => {
    const all = Object.keys(resolve(everything));
    expect(all).toContain(accessor);
    expect(Object.keys(resolve(everything, without(field)))).toEqual(
      all.filter((name) => name !== accessor),
    );
  });

  it('without personalityFsReach nothing is reachable', async () => {
    const { scopedFs } = resolve(everything, without('personalityFsReach'));
    expect(await rejection(Promise.resolve(scopedFs?.read(root)))).toMatchObject({
      code: 'PATH_NOT_REACHABLE',
    });
  });

  it('without personalityNetworkAllow, * is the empty set', async () => {
    stubFetch();
    const { scopedFetch } = resolve(everything, without('personalityNetworkAllow'));
    expect(
      await rejection(Promise.resolve(scopedFetch?.fetch('https://api.github.com/'))),
    ).toMatchObject({
      code: 'HOST_NOT_ALLOWED',
    });
  });

  it('kvStoreFactory is called once a call of the tool', async () => {
    const kvStoreFactory = vi.fn(createInMemoryKvStore().kvStoreFactory);
    const registry = new DefaultToolRegistry({ kvStoreFactory });
    const use = async (_args: unknown, ctx: ToolContext) => {
      await ctx.kvStore?.set('a', '1');
      return ok((await ctx.kvStore?.get('a')) ?? '');
    };
    registry.register(
      makeTool('t', use, { capabilities: { storage: { scope: 'session', kind: 'kv' } } }),
    );
    expect(await runOne(registry, 't')).toEqual(ok('1'));
    expect(kvStoreFactory).toHaveBeenCalledTimes(1);
  });

  it('storage is what scopedFs delegates to', async () => {
    const reads: string[] = [];
    const storage: Storage = Object.assign(new FsStorage(), {
      contained: undefined,
      read: async (path: string) => {
        reads.push(path);
        return 'delegated';
      },
    });
    const { scopedFs } = resolve(everything, { ...full(), storage });
    expect(await scopedFs?.read(`${root}/x`)).toBe('delegated');
    expect(reads).toEqual([`${root}/x`]);
  });

  it.each<[string, ToolCapabilities, boolean]>([
    ['{}', {}, true],
    ['network', { network: { allowedHosts: [] } }, false],
    ['secrets', { secrets: [] }, false],
    ['storage', { storage: { scope: 'session', kind: 'kv' } }, false],
    ['fs_reach', { fs_reach: {} }, false],
    ['process', { process: { allowedBinaries: [] } }, false],
    ['attachments', { attachments: {} }, false],
  ])(
    'without any backends, a tool that declares %s runs: %j %s',
    async (_name, capabilities, runs) => {
      const registry = new DefaultToolRegistry();
      registry.register(makeTool('t', undefined, { capabilities }));
      expect(await runOne(registry, 't')).toMatchObject(
        runs ? ok('done') : { ok: false, code: 'not_available' },
      );
    },
  );
});

describe('Tool capabilities reference: Used by', () => {
  it.each([
    [
      '@ethosagent/core',
      [
        'validateRegistration',
        'resolveCapabilities',
        'needsBackends',
        'DefaultToolRegistry',
        'DefaultToolResultReducerRegistry',
      ],
    ],
    [
      '@ethosagent/core/scoped',
      [
        'ScopedFetchImpl',
        'ScopedFsImpl',
        'ScopedSecretsImpl',
        'ScopedProcessImpl',
        'ScopedAttachmentsImpl',
      ],
    ],
    [
      '@ethosagent/types',
      ['BoundaryError', 'CapabilityError', 'EthosError', 'ERROR_CODES', 'TOOL_ERROR_CODES'],
    ],
  ])('%s exports %j', async (name, names) => {
    const modules: Record<string, () => Promise<object>> = {
      '@ethosagent/core': () => import('./index.js'),
      '@ethosagent/core/scoped': () => import('./scoped/index.js'),
      '@ethosagent/types': () => import('@ethosagent/types'),
    };
    const exported = await modules[name]?.();
    for (const one of names) expect(exported).toHaveProperty(one);
  });
});
