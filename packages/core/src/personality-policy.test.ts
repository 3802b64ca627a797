import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FsStorage } from '@ethosagent/storage-fs';
import type { ToolSettings } from '@ethosagent/types';
import { afterAll, describe, expect, it } from 'vitest';
import type { CapabilityBackends, PersonalityPolicy } from './backends.js';
import { batchContext, makeTool, ok, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';
import type { TurnHost } from './turn-host.js';

const root = mkdtempSync(join(tmpdir(), 'personality-'));
const path = join(root, 'file');
writeFileSync(path, 'text');
afterAll(() => rmSync(root, { recursive: true, force: true }));

const everything = { fs_reach: { read: [root], write: [root] } };
const capabilities = {
  fs_reach: { read: 'from-personality' as const },
  network: { allowedHosts: ['*'] },
  process: { allowedBinaries: ['true'] },
};

/** A registry with one tool, `t`, that reads the file. */
function registryOver(backends: CapabilityBackends, settings?: ToolSettings) {
  const registry = new DefaultToolRegistry({ storage: new FsStorage(), ...backends });
  registry.register(
    makeTool('t', async (_, ctx) => ok((await ctx.scopedFs?.read(path)) ?? ''), {
      capabilities,
      requiresApproval: backends.approve !== undefined,
      ...(settings !== undefined && { settings }),
    }),
  );
  return registry;
}

const anySettings: ToolSettings = {
  schema: {},
  parse: (value) => ({ ok: true, settings: value }),
};

describe('backends.personality', () => {
  it('is asked once for a call, by the id of its personality', async () => {
    const asked: (string | undefined)[] = [];
    const personality = (id: string | undefined): PersonalityPolicy => {
      asked.push(id);
      return { ...everything, safety: { quotas: { per_call: { requests: 1 } } } };
    };
    const registry = registryOver({ personality }, anySettings);
    expect(await runOne(registry, 't', {}, { personalityId: 'p' })).toEqual(ok('text'));
    expect(asked).toEqual(['p']);
  });

  it('is asked again when the call has waited for a yes', async () => {
    let policy: PersonalityPolicy = everything;
    const registry = registryOver({
      personality: () => policy,
      approve: () => {
        policy = { fs_reach: { read: ['/other'] } };
        return true;
      },
    });
    expect(await runOne(registry, 't')).toMatchObject({ ok: false, code: 'not_available' });
  });

  it('is asked again when the call has waited for a place', async () => {
    let policy: PersonalityPolicy = everything;
    const registry = new DefaultToolRegistry(
      { storage: new FsStorage(), personality: () => policy },
      undefined,
      { maxConcurrency: 1 },
    );
    registry.registerAll([
      makeTool('first', async () => {
        policy = {};
        return ok('');
      }),
      makeTool('t', async (_, ctx) => ok((await ctx.scopedFs?.read(path)) ?? ''), { capabilities }),
    ]);
    const calls = ['first', 't'].map((name) => ({ toolCallId: name, name, args: {} }));
    const results = await registry.executeParallel(calls, batchContext());
    expect(results.map(({ result }) => result.ok)).toEqual([true, false]);
  });

  it.each<[string, PersonalityPolicy | undefined, boolean]>([
    ['no longer has its tool', { ...everything, offers: () => false }, false],
    ['sets it differently', { ...everything, tool_settings: { t: { deny: ['x'] } } }, false],
    ['is no longer known', undefined, false],
    ['says the same', { ...everything }, true],
  ])(
    'lets a call that waited for its place run only if the personality allows it: it %s',
    async (_how, then, runs) => {
      let policy: PersonalityPolicy | undefined = everything;
      const ran: string[] = [];
      const registry = new DefaultToolRegistry({ personality: () => policy }, undefined, {
        maxConcurrency: 1,
      });
      registry.registerAll([
        makeTool('first', async () => {
          await Promise.resolve();
          // The other call has passed its gates, and waits.
          policy = then;
          return ok('');
        }),
        makeTool('t', async () => ok(`${ran.push('t')}`), { settings: anySettings }),
      ]);
      const calls = ['first', 't'].map((name) => ({ toolCallId: name, name, args: {} }));
      const [, second] = await registry.executeParallel(calls, batchContext());
      expect(ran).toEqual(runs ? ['t'] : []);
      if (runs) return;
      expect(second?.result).toMatchObject({
        code: 'not_available',
        cause: 'TOOL_NOT_ALLOWED',
        error: expect.stringContaining('changed while it waited'),
      });
    },
  );

  it('is asked again about untrusted content when the call has waited for its record', async () => {
    let policy: PersonalityPolicy = everything;
    const ran: string[] = [];
    const registry = new DefaultToolRegistry({ personality: () => policy });
    registry.register(makeTool('t', async () => ok(`${ran.push('t')}`)));
    const call = { toolCallId: 't', name: 't', args: {} };
    const host: TurnHost = {
      isTainted: true,
      gate: () => undefined,
      beforeRun: async () => {
        policy = { ...everything, safety: { untrusted: { send: 'deny' } } };
      },
    };
    await registry.executeParallel([call], batchContext(), undefined, undefined, undefined, host);
    expect(ran).toEqual([]);
  });

  it('lets no service begin that may now write where it was not recorded', async () => {
    let policy: PersonalityPolicy = { fs_reach: { read: [root], write: [] } };
    const ran: string[] = [];
    const registry = new DefaultToolRegistry({
      storage: new FsStorage(),
      personality: () => policy,
    });
    registry.register(
      makeTool('t', async () => ok(`${ran.push('t')}`), {
        capabilities: { fs_reach: { write: 'from-personality' }, service: { scope: 'session' } },
      }),
    );
    const recorded: (readonly string[])[] = [];
    const host: TurnHost = {
      watchSources: () => ({
        trust: { isEmpty: true, covers: () => false },
        trustsTool: false,
        isWritten: async () => false,
        beforeWrite: async (places) => void recorded.push(places),
      }),
      beforeRun: async () => {
        policy = everything;
      },
    };
    const call = { toolCallId: 't', name: 't', args: {} };
    const args = [batchContext(), undefined, undefined, undefined, host] as const;
    await registry.executeParallel([call], ...args);
    expect([ran, recorded]).toEqual([[], []]);
    await registry.executeParallel([call], ...args);
    expect([ran, recorded]).toEqual([['t'], [[root]]]);
  });

  it('lets a personality that it does not know reach and use nothing', () => {
    const registry = registryOver({ personality: () => undefined });
    expect(registry.describe('t', batchContext())).toEqual({
      fs_reach: { read: [], write: [] },
      network: { allowedHosts: [] },
      process: { allowedBinaries: ['true'], sandbox: 'required' },
      quotas: {
        per_call: {
          requests: 0,
          bytes_in: 0,
          bytes_out: 0,
          process_seconds: 0,
          files_written: 0,
          store_bytes: 0,
        },
      },
    });
  });

  it('gives no settings of a personality that it does not know', async () => {
    const registry = new DefaultToolRegistry({ personality: () => undefined });
    registry.register(makeTool('t', undefined, { settings: anySettings }));
    expect(await runOne(registry, 't')).toMatchObject({ ok: false, code: 'not_available' });
  });

  it('has its deny list joined with that of the turn', () => {
    const network = { allow: ['*.test'], deny: ['a.test'], allow_private_urls: true };
    const registry = registryOver({ personality: () => ({ safety: { network } }) });
    const networkPolicy = { deny: ['b.test'] };
    expect(registry.describe('t', batchContext({ networkPolicy }))?.network).toEqual({
      allowedHosts: ['*.test'],
      deny: ['a.test', 'b.test'],
    });
  });

  it('gives way to a callback that says one part', () => {
    const registry = registryOver({
      personality: () => ({ ...everything, safety: { network: { allow: ['a.test'] } } }),
      personalityNetworkAllow: ['b.test'],
      personalityProcess: { sandbox: 'preferred' },
      personalityQuotas: { per_call: { requests: 1 } },
    });
    expect(registry.describe('t', batchContext())).toEqual({
      fs_reach: { read: [root], write: [] },
      network: { allowedHosts: ['b.test'] },
      process: { allowedBinaries: ['true'], sandbox: 'preferred' },
      quotas: { per_call: { requests: 1 } },
    });
  });
});
