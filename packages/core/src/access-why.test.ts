import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/audit';
import { FsStorage } from '@ethosagent/storage-fs';
import type { AuditWhy, ToolCapabilities, ToolContext } from '@ethosagent/types';
import { afterAll, describe, expect, it } from 'vitest';
import type { CapabilityBackends, PersonalityPolicy } from './backends.js';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { batchContext, makeTool, ok } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'why-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(join(root, 'file'), 'text');

/** The decisions on the accesses of one call: `<operation> <decision>`, and why. */
async function whyOf({
  capabilities,
  policy = {},
  use,
  backends = {},
  turn,
}: {
  capabilities: ToolCapabilities;
  policy?: PersonalityPolicy;
  use: (ctx: ToolContext) => Promise<unknown> | undefined;
  backends?: CapabilityBackends;
  turn?: { allow?: string[]; deny?: string[] };
}): Promise<[string, AuditWhy | undefined][]> {
  const audit = new MemoryAuditSink();
  const registry = new DefaultToolRegistry({
    audit,
    storage: new FsStorage(),
    secretsBackend: async () => 'hunter2222',
    kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
    personality: () => policy,
    fetch: async () => new Response('fine'),
    lookup: async () => [{ address: '93.184.216.34' }],
    ...backends,
  });
  const run = async (_: unknown, ctx: ToolContext) => {
    await Promise.resolve(use(ctx)).catch(() => {});
    return ok('done');
  };
  registry.register(makeTool('agent', run, { capabilities }));
  await registry.executeParallel(
    [{ toolCallId: 'call-7', name: 'agent', args: {} }],
    batchContext({
      personalityId: 'coder',
      storage: new FsStorage(),
      ...(turn !== undefined && { networkPolicy: turn }),
    }),
  );
  expect(new Set(audit.events.map(({ toolCallId }) => toolCallId))).toEqual(new Set(['call-7']));
  return audit.events.map(({ operation, decision, why }) => [`${operation} ${decision}`, why]);
}

const fetching = (url: string) => (ctx: ToolContext) => ctx.scopedFetch?.fetch(url);

describe('why an access was allowed or denied', () => {
  const hosts = { network: { allowedHosts: ['api.test', '*.example.com'] } };
  const network = {
    allow: ['other.test', '*.com', 'www.example.com'],
    deny: ['x.test', '*.bad.com'],
  };

  it.each<[string, string, AuditWhy]>([
    [
      'https://www.example.com/',
      'fetch allowed',
      {
        declared: 'network.allowedHosts[1] = "*.example.com"',
        policy: ['personality coder: safety.network.allow[2]'],
      },
    ],
    [
      'https://a.example.com/',
      'fetch allowed',
      {
        declared: 'network.allowedHosts[1] = "*.example.com"',
        policy: ['personality coder: safety.network.allow[1]'],
      },
    ],
    [
      'https://api.test/',
      'fetch denied',
      {
        declared: 'network.allowedHosts[0] = "api.test"',
        policy: ['personality coder: safety.network.allow'],
      },
    ],
    ['https://other.test/', 'fetch denied', { declared: 'network.allowedHosts', policy: [] }],
    [
      'https://very.bad.com/',
      'fetch denied',
      { declared: 'network.allowedHosts', policy: ['personality coder: safety.network.deny[1]'] },
    ],
    ['no URL', 'fetch denied', { declared: 'network.allowedHosts', policy: [] }],
  ])('names both lists for %s', async (url, what, why) => {
    const policy = { safety: { network } };
    const found = await whyOf({ capabilities: hosts, policy, use: fetching(url) });
    expect(found).toEqual([[what, why]]);
  });

  it('names the entry that opens a port, not a wider one beside it', async () => {
    const policy = { safety: { network: { allow: ['*.com', 'db.example.com:6379'] } } };
    const capabilities = { network: { allowedHosts: ['*'] } };
    const use = fetching('http://db.example.com:6379/');
    expect(await whyOf({ capabilities, policy, use })).toEqual([
      [
        'fetch allowed',
        {
          declared: 'network.allowedHosts[0] = "*"',
          policy: ['personality coder: safety.network.allow[1]'],
        },
      ],
    ]);
  });

  it('names the list of the turn where it had a say', async () => {
    const policy = { safety: { network } };
    const use = fetching('https://a.example.com/');
    const allow = ['a.example.com'];
    const allowed = await whyOf({ capabilities: hosts, policy, use, turn: { allow } });
    expect(allowed[0]?.[0]).toBe('fetch allowed');
    expect(allowed[0]?.[1]?.policy).toEqual([
      'personality coder: safety.network.allow[1]',
      'the turn: networkPolicy.allow[0]',
    ]);
    const same = await whyOf({ capabilities: hosts, policy, use, turn: network });
    expect(same[0]?.[1]?.policy).toEqual(['personality coder: safety.network.allow[1]']);
    const deny = ['b.test', '*.example.com'];
    const denied = await whyOf({ capabilities: hosts, policy, use, turn: { deny } });
    expect(denied).toEqual([
      [
        'fetch denied',
        { declared: 'network.allowedHosts', policy: ['the turn: networkPolicy.deny[1]'] },
      ],
    ]);
  });

  it('names the entries for a path, and what lacks one', async () => {
    const policy = { fs_reach: { read: ['/elsewhere', root], write: [join(root, 'out')] } };
    const capabilities: ToolCapabilities = {
      fs_reach: { read: 'from-personality', write: [root, '/elsewhere'] },
    };
    const found = await whyOf({
      capabilities,
      policy,
      use: async ({ scopedFs, storage }) => {
        await scopedFs?.read(join(root, 'file'));
        await scopedFs?.read('/unreached/file').catch(() => {});
        await scopedFs?.write(join(root, 'out', 'file'), 'x').catch(() => {});
        await scopedFs?.write(join(root, 'file'), 'x').catch(() => {});
        await scopedFs?.write('/unreached/file', 'x').catch(() => {});
        await storage?.read(join(root, 'file'));
      },
    });
    const read = 'fs_reach.read = "from-personality"';
    const write = `fs_reach.write[0] = ${JSON.stringify(root)}`;
    expect(found).toEqual([
      ['read allowed', { declared: read, policy: ['personality coder: fs_reach.read[1]'] }],
      ['read denied', { declared: read, policy: ['personality coder: fs_reach.read'] }],
      ['write allowed', { declared: write, policy: ['personality coder: fs_reach.write[0]'] }],
      ['write denied', { declared: write, policy: ['personality coder: fs_reach.write'] }],
      ['write denied', { declared: 'fs_reach.write', policy: [] }],
      ['read allowed', { declared: read, policy: ['personality coder: fs_reach.read[1]'] }],
    ]);
  });

  it('names the declaration of what no policy lists', async () => {
    const found = await whyOf({
      capabilities: {
        secrets: ['other', { ref: 'bound', hosts: ['api.test'] }, 'key/*'],
        network: { allowedHosts: ['api.test'] },
        storage: { scope: 'session', kind: 'kv' },
        process: { allowedBinaries: ['nothing', 'true'] },
      },
      policy: { safety: { process: { arguments: { true: { deny: ['-x'] } } } } },
      use: async ({ secretsResolver, kvStore, scopedProcess, scopedFetch }) => {
        await secretsResolver?.get('key/deep');
        await secretsResolver?.get('none').catch(() => {});
        const handle = await secretsResolver?.handle('bound');
        await scopedFetch?.fetch('https://api.test/', { headers: { key: String(handle) } });
        await kvStore?.get('k');
        await scopedProcess?.spawn('true', []);
        await scopedProcess?.spawn('rm', []).catch(() => {});
      },
    });
    expect(found).toEqual([
      ['get allowed', { declared: 'secrets[2] = "key/*"', policy: [] }],
      ['get denied', { declared: 'secrets', policy: [] }],
      ['handle allowed', { declared: 'secrets[1] = "bound"', policy: [] }],
      ['fetch allowed', { declared: 'network.allowedHosts[0] = "api.test"', policy: [] }],
      ['send allowed', { declared: 'secrets[1] = "bound"', policy: [] }],
      ['get allowed', { declared: 'storage.scope = "session"', policy: [] }],
      [
        'spawn allowed',
        {
          declared: 'process.allowedBinaries[1] = "true"',
          policy: ['personality coder: safety.process.arguments.true'],
        },
      ],
      ['spawn denied', { declared: 'process.allowedBinaries', policy: [] }],
    ]);
  });

  it('names the cap that a denial went by', async () => {
    const found = await whyOf({
      capabilities: { network: { allowedHosts: ['api.test'] } },
      policy: { safety: { quotas: { per_session: { requests: 0 } } } },
      use: fetching('https://api.test/'),
    });
    expect(found).toEqual([
      [
        'fetch denied',
        {
          declared: 'network.allowedHosts[0] = "api.test"',
          policy: ['personality coder: safety.quotas.per_session.requests'],
        },
      ],
    ]);
  });

  it('says what a policy is called that a callback of its own gave', async () => {
    const places = () => ['personalities/coder/config.yaml:1'];
    const found = await whyOf({
      capabilities: { network: { allowedHosts: ['api.test'] } },
      policy: { safety: { network: { allow: ['api.test'] } }, places },
      backends: { personalityNetworkAllow: ['*.com', '*.test'] },
      use: fetching('https://api.test/'),
    });
    expect(found[0]?.[1]?.policy).toEqual(['personality coder: safety.network.allow[1]']);
  });

  it('asks nobody for a place when nobody is told', async () => {
    let asked = 0;
    const places = () => {
      asked += 1;
      return [];
    };
    const registry = new DefaultToolRegistry({
      personality: () => ({ places }),
      kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
    });
    const capabilities = { storage: { scope: 'session', kind: 'kv' } } as const;
    const use = async (_: unknown, { kvStore }: ToolContext) => ok(String(await kvStore?.get('k')));
    registry.register(makeTool('agent', use, { capabilities }));
    await registry.executeParallel([{ toolCallId: 'c', name: 'agent', args: {} }], batchContext());
    expect(asked).toBe(0);
  });
});
