import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FsStorage } from '@ethosagent/storage-fs';
import type { ToolCapabilities, ToolContext } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CapabilityBackends } from './backends.js';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { batchContext, makeTool, ok, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const root = mkdtempSync(join(tmpdir(), 'call-context-'));
beforeAll(() => {
  for (const folder of ['a', 'b', 'denied']) {
    mkdirSync(join(root, folder));
    writeFileSync(join(root, folder, 'file'), folder);
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const backends = (): CapabilityBackends => ({
  kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
  secretsBackend: async () => 'value',
  storage: new FsStorage(),
  personalityFsReach: { read: [root], write: [root] },
  personalityNetworkAllow: ['example.com'],
});

describe('what is worked out once', () => {
  function registryOver(using: CapabilityBackends, capabilities: ToolCapabilities) {
    const registry = new DefaultToolRegistry(using);
    const tool = makeTool(
      't',
      async (_args, ctx) => {
        const reads = await Promise.all(
          ['a', 'b'].map((name) =>
            ctx.scopedFs?.read(join(root, name, 'file')).catch(() => 'denied'),
          ),
        );
        return ok(reads.join());
      },
      { capabilities },
    );
    registry.register(tool);
    return { registry, tool };
  }
  const fs_reach = { read: 'from-personality' } as const;

  it('a reach that was changed in place takes effect with the next call', async () => {
    const personalityFsReach = { read: [join(root, 'a')], write: [] };
    const { registry } = registryOver({ ...backends(), personalityFsReach }, { fs_reach });
    expect(await runOne(registry, 't')).toEqual(ok('a,denied'));
    personalityFsReach.read[0] = join(root, 'b');
    expect(await runOne(registry, 't')).toEqual(ok('denied,b'));
    personalityFsReach.read.push(join(root, 'a'));
    expect(await runOne(registry, 't')).toEqual(ok('a,b'));
    personalityFsReach.read.length = 0;
    expect(await runOne(registry, 't')).toEqual(ok('denied,denied'));
  });

  it('what the function says now holds, for each personality', async () => {
    const reach: Record<string, string[]> = { one: [join(root, 'a')], two: [join(root, 'b')] };
    const personalityFsReach = (id: string | undefined) => {
      const read = id === undefined ? undefined : reach[id];
      return read && { read, write: [] };
    };
    const { registry } = registryOver({ ...backends(), personalityFsReach }, { fs_reach });
    const as = (personalityId?: string) =>
      runOne(registry, 't', {}, personalityId === undefined ? {} : { personalityId });
    expect([await as('one'), await as('two')]).toEqual([ok('a,denied'), ok('denied,b')]);
    reach.one = [join(root, 'b')];
    expect([await as('one'), await as('unknown'), await as()]).toEqual([
      ok('denied,b'),
      ok('denied,denied'),
      ok('denied,denied'),
    ]);
  });

  it('more personalities than are kept all get their own', async () => {
    const personalityFsReach = (id: string | undefined) => ({
      read: [join(root, Number(id) % 2 === 0 ? 'a' : 'b'), `/nowhere/${id}`],
      write: [],
    });
    const { registry } = registryOver({ ...backends(), personalityFsReach }, { fs_reach });
    for (let id = 0; id < 300; id++) {
      const personalityId = String(id % 150);
      expect(await runOne(registry, 't', {}, { personalityId })).toEqual(
        ok(Number(personalityId) % 2 === 0 ? 'a,denied' : 'denied,b'),
      );
    }
  });

  it('a function that throws gives nothing, and fails its call alone', async () => {
    const personalityFsReach = () => {
      throw new Error('no such file');
    };
    const { registry } = registryOver({ ...backends(), personalityFsReach }, { fs_reach });
    registry.register(makeTool('other'));
    const results = await registry.executeParallel(
      ['t', 'other'].map((name) => ({ toolCallId: name, name, args: {} })),
      batchContext(),
    );
    expect(results.map(({ result }) => result.ok)).toEqual([false, true]);
  });

  it('a declaration that is changed after registration changes nothing', async () => {
    const capabilities: ToolCapabilities = { fs_reach: { read: [join(root, 'a')] } };
    const { registry, tool } = registryOver(backends(), capabilities);
    capabilities.fs_reach = { read: [root] };
    capabilities.secrets = ['key'];
    expect(await runOne(registry, 't')).toEqual(ok('a,denied'));
    tool.capabilities = {};
    expect(await runOne(registry, 't')).toEqual(ok('a,denied'));
    expect(registry.describe('t', { sessionId: 's' })).toEqual({
      fs_reach: { read: [join(root, 'a')], write: [] },
    });
  });

  it.each<[string, CapabilityBackends['personalityProcess'], ToolCapabilities['process'], object]>([
    ['none', undefined, { allowedBinaries: ['sh'] }, {}],
    ['none by false', { sandbox: false }, { allowedBinaries: ['sh'] }, {}],
    [
      'what the personality says',
      { sandbox: true, limits: { open_files: 5 } },
      { allowedBinaries: ['sh'] },
      { sandbox: 'required', limits: { open_files: 5 } },
    ],
    ['preferred', { sandbox: 'preferred' }, { allowedBinaries: ['sh'] }, { sandbox: 'preferred' }],
    [
      "the tool's own",
      { sandbox: 'preferred' },
      { allowedBinaries: ['sh'], sandbox: 'required', background: true },
      { sandbox: 'required', background: true },
    ],
  ])(
    'the description says which sandbox there is: %s',
    (_name, personalityProcess, process, grant) => {
      const registry = new DefaultToolRegistry({
        ...(personalityProcess !== undefined && { personalityProcess }),
      });
      registry.register(
        makeTool('t', undefined, { capabilities: { ...(process && { process }) } }),
      );
      expect(registry.describe('t', { sessionId: 's' })).toEqual({
        process: { allowedBinaries: ['sh'], ...grant },
      });
    },
  );

  it('a machine that the operator named stays named beside a wider entry', async () => {
    const allow = ['*', '127.0.0.1'];
    const registry = new DefaultToolRegistry({
      personalityNetworkAllow: allow,
      fetch: async () => new Response('fine'),
    });
    const run = async (_args: unknown, ctx: Pick<ToolContext, 'scopedFetch'>) =>
      ok((await (await ctx.scopedFetch?.fetch('http://127.0.0.1:8080/'))?.text()) ?? '');
    registry.register(makeTool('t', run, { capabilities: { network: { allowedHosts: ['*'] } } }));
    const call = { toolCallId: '1', name: 't', args: {} };
    for (const networkPolicy of [{ allow }, { allow: [...allow] }]) {
      const ctx = { ...batchContext(), networkPolicy };
      const [answer] = await registry.executeParallel([call], ctx);
      expect(answer?.result).toEqual(ok('fine'));
    }
  });

  it('an allow list of hosts that was changed in place takes effect with the next call', async () => {
    const personalityNetworkAllow = ['a.example'];
    const registry = new DefaultToolRegistry({
      personalityNetworkAllow,
      lookup: async () => [{ address: '93.184.216.34' }],
      fetch: async () => new Response('fine'),
    });
    registry.register(
      makeTool(
        't',
        async (_args, ctx) =>
          ok((await (await ctx.scopedFetch?.fetch('http://b.example/'))?.text()) ?? ''),
        { capabilities: { network: { allowedHosts: ['*'] } } },
      ),
    );
    expect(await runOne(registry, 't')).toMatchObject({ ok: false });
    personalityNetworkAllow[0] = 'b.example';
    expect(await runOne(registry, 't')).toEqual(ok('fine'));
    personalityNetworkAllow.length = 0;
    expect(await runOne(registry, 't')).toMatchObject({ ok: false });
  });

  it.each([
    [null, true],
    [undefined, false],
    [['a.example'], true],
    [['b.example'], false],
    [[], false],
  ])('a function of the personality that says %j: reachable %s', async (allow, reachable) => {
    const registry = new DefaultToolRegistry({
      personalityNetworkAllow: () => allow,
      lookup: async () => [{ address: '93.184.216.34' }],
      fetch: async () => new Response('fine'),
    });
    registry.register(
      makeTool(
        't',
        async (_args, ctx) =>
          ok((await (await ctx.scopedFetch?.fetch('http://a.example/'))?.text()) ?? ''),
        { capabilities: { network: { allowedHosts: ['a.example'] } } },
      ),
    );
    expect((await runOne(registry, 't')).ok).toBe(reachable);
  });
});
