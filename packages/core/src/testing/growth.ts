import { InMemoryStorage } from '@ethosagent/storage-fs';
import type { Measured } from '@ethosagent/test-support';
import type { ToolCapabilities } from '@ethosagent/types';
import type { ToolRegistryOptions } from '../batch/batch.js';
import { compareGrants } from '../capabilities/compare/compare-grants.js';
import type { ResolvedGrant } from '../capabilities/resolved-grant.js';
import { createInMemoryKvStore } from '../in-memory-kv.js';
import { createInMemorySessionStore } from '../in-memory-sessions.js';
import { SessionLedgers } from '../session/session-ledgers.js';
import { DefaultToolRegistry } from '../tool-registry.js';
import { batchContext, makeTool, ok } from './batch.js';

const EVERYTHING: ToolCapabilities = {
  network: { allowedHosts: ['api.example.com'] },
  secrets: ['key'],
  storage: { scope: 'tool-private', kind: 'kv' },
  fs_reach: { read: 'from-personality' },
  process: { allowedBinaries: ['git'] },
};
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const list = <T>(size: number, item: (index: number) => T): T[] =>
  Array.from({ length: size }, (_, index) => item(index));
const nameOf = (index: number) => `tool_${index}`;
const toolsOf = (size: number, capabilities = EVERYTHING) =>
  list(size, (index) =>
    makeTool(nameOf(index), () => ok('done'), {
      schema,
      capabilities,
      outputIsUntrusted: index % 2 === 0,
    }),
  );

function registryOf(size: number, audit = { record() {}, call() {} }) {
  const registry = new DefaultToolRegistry(
    {
      audit,
      kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
      secretsBackend: async () => 'value',
      personalityNetworkAllow: ['api.example.com'],
      personalityFsReach: { read: ['/data'], write: [] },
    },
    undefined,
    { maxConcurrency: 4 },
  );
  registry.registerAll(toolsOf(size));
  return registry;
}

const callsOf = (size: number, name: (index: number) => string) =>
  list(size, (index) => ({ toolCallId: `${index}`, name: name(index), args: { city: 'London' } }));

const hostOf = (n: number) => (n % 2 === 0 ? `h${n}.example.com` : `*.d${n}.example.org`);
const folderOf = (n: number) => `/data/project-${n}`;
const refOf = (n: number) => (n % 2 === 0 ? `key_${n}` : `keys_${n}/*`);

/** What one tool reaches under a personality: n entries of each kind, from a number on. */
function grantOf(size: number, from = 0): ResolvedGrant {
  const each = <T>(item: (index: number) => T) => list(size, (n) => item(n + from));
  const hosts = each(hostOf);
  const folders = each(folderOf);
  return {
    network: {
      allowedHosts: hosts,
      deny: list(size, (n) => `h${2 * n}.example.com`),
      privateHosts: each((n) => `10.0.${n >> 8}.${n & 255}`),
      servicePorts: each((n) => `db${n}.example.net:5432`),
    },
    secrets: [...each(refOf), ...each((n) => ({ ref: `bound_${n}`, hosts: [hostOf(n)] }))],
    secretSources: Object.fromEntries(each((n) => [`key_${n}`, `other_${n}`])),
    fs_reach: {
      read: folders,
      write: folders,
      deny: each((n) => `/data/project-${2 * n}/private`),
      leads: Object.fromEntries(folders.map((folder) => [folder, `/elsewhere${folder}`])),
      stays: each((n) => `/data/project-${n}/stays`),
    },
    process: {
      allowedBinaries: each((n) => `program_${n}`),
      arguments: Object.fromEntries(
        each((n) => [`program_${n}`, { allow: ['status *'], deny: ['push *'] }]),
      ),
    },
    calls: { tools: each(nameOf) },
  };
}

/** A tool that touches one of everything, under a personality of n rules of each kind. */
function ruledRegistry(size: number, options: ToolRegistryOptions = {}): DefaultToolRegistry {
  const { network, fs_reach, process } = grantOf(size);
  const registry = new DefaultToolRegistry(
    {
      audit: { record() {}, call() {} },
      kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
      secretsBackend: async () => 'value',
      storage: new InMemoryStorage(),
      fetch: async () => new Response('text'),
      lookup: async () => [{ address: '93.184.216.34', family: 4 }],
      personality: () => ({
        fs_reach: { read: [...(fs_reach?.read ?? [])], write: [...(fs_reach?.write ?? [])] },
        safety: {
          network: { allow: [...(network?.allowedHosts ?? [])], deny: ['denied.example.com'] },
          secrets: Object.fromEntries(list(size, (n) => [`key_${n}`, `other_${n}`])),
          process: { arguments: process?.arguments ?? {} },
        },
      }),
    },
    undefined,
    options,
  );
  registry.register(
    makeTool(
      'touches',
      async (_args, ctx) => {
        await ctx.scopedFs?.exists(`${folderOf(1)}/file`);
        await ctx.scopedFetch?.fetch('https://h2.example.com/');
        await ctx.secretsResolver?.get('key_2');
        return ok('done');
      },
      {
        capabilities: {
          network: { allowedHosts: list(size, hostOf) },
          secrets: list(size, (n) => `key_${n}`),
          fs_reach: { read: list(size, folderOf), write: 'from-personality' },
          process: { allowedBinaries: list(size, (n) => `program_${n}`) },
        },
      },
    ),
  );
  return registry;
}

const touch = async (registry: DefaultToolRegistry) => {
  const [answer] = await registry.executeParallel(
    callsOf(1, () => 'touches'),
    batchContext(),
  );
  if (answer?.result.ok !== true) throw new Error(JSON.stringify(answer));
};

/** Of a registry and its batches: tools, calls, and messages of a session in memory. */
export const measured: Measured = {
  'registering n tools': (size) => {
    const tools = toolsOf(size);
    const registry = registryOf(0);
    return () => registry.registerAll(tools);
  },
  'registering n tools anew, and removing them': (size) => {
    const registry = registryOf(size);
    const tools = toolsOf(size);
    return () => {
      registry.registerAll(tools);
      for (const { name } of tools) registry.unregister(name);
    };
  },
  'definitions of n tools for a model': (size) => {
    const registry = registryOf(size);
    const allowed = list(size, nameOf);
    return () => registry.toDefinitions(allowed, { excludeTools: allowed.slice(size / 2) });
  },
  'holding n tools against a personality': (size) => {
    const registry = registryOf(size);
    return () =>
      registry.validateToolsForPersonality({ id: 'p', name: 'p', toolset: list(size, nameOf) });
  },
  'a call by name among n tools': (size) => {
    const registry = registryOf(size);
    const allowed = list(size, nameOf);
    return () =>
      registry.executeParallel(
        callsOf(1, () => nameOf(size - 1)),
        batchContext(),
        allowed,
      );
  },
  'a call of a name that none of n tools has': (size) => {
    const registry = registryOf(size);
    const calls = callsOf(1, () => 'tol_1x');
    return () => registry.executeParallel(calls, batchContext(), list(size, nameOf));
  },
  'n calls of a batch': (size) => {
    const registry = registryOf(8);
    return () =>
      registry.executeParallel(
        callsOf(size, (n) => nameOf(n % 8)),
        batchContext(),
      );
  },
  'n calls of a batch that wait for each other': (size) => {
    const registry = registryOf(0);
    registry.register(
      makeTool('t', () => new Promise((resolve) => setImmediate(resolve, ok('done')))),
    );
    return () =>
      registry.executeParallel(
        callsOf(size, () => 't'),
        batchContext(),
      );
  },
  'n calls that keep to one store': (size) => {
    const registry = registryOf(0);
    registry.register(
      makeTool(
        't',
        async (_args, ctx) => {
          await ctx.kvStore?.set(`${ctx.toolCallId}`, 'value');
          return ok(`${await ctx.kvStore?.get(`${ctx.toolCallId}`)}`);
        },
        { capabilities: { storage: { scope: 'tool-private', kind: 'kv' } } },
      ),
    );
    return () =>
      registry.executeParallel(
        callsOf(size, () => 't'),
        batchContext(),
      );
  },
  'n batches of one session': (size) => {
    const registry = registryOf(8);
    return async () => {
      for (let n = 0; n < size; n++)
        await registry.executeParallel(
          callsOf(1, () => nameOf(n % 8)),
          batchContext(),
        );
    };
  },
  'what a call may reach under n rules of each kind': (size) => {
    const registry = ruledRegistry(size);
    return () => registry.describe('touches', batchContext());
  },
  'the first call under n rules of each kind': (size) => {
    const registry = ruledRegistry(size);
    return () => touch(registry);
  },
  'a call more under n rules of each kind': async (size) => {
    const registry = ruledRegistry(size);
    await touch(registry);
    return () => touch(registry);
  },
  'a call that is narrowed to n entries of each kind': (size) => {
    const narrow = {
      hosts: list(size, hostOf),
      read: list(size, folderOf),
      write: list(size, folderOf),
      secrets: list(size, (n) => `key_${n}`),
      binaries: list(size, (n) => `program_${n}`),
    };
    const registry = ruledRegistry(size, { beforeCall: () => ({ narrow }) });
    return () => touch(registry);
  },
  'what two grants of n entries share': (size) => {
    const [before, after] = [grantOf(size), grantOf(size)];
    return () => compareGrants(before, after);
  },
  'what another grant of n entries gains': (size) => {
    const [before, after] = [grantOf(size), grantOf(size, size / 2)];
    return () => compareGrants(before, after);
  },
  'another grant of n entries, without n denials': (size) => {
    const network = { allowedHosts: list(size, hostOf) };
    const deny = list(size, (n) => `denied${n}.example.net`);
    return () => compareGrants({ network: { ...network, deny } }, { network });
  },
  'noting n files that calls wrote after untrusted content': (size) => async () => {
    const { files } = new SessionLedgers(createInMemorySessionStore());
    for (let n = 0; n < size; n += 1) await files.note([`/w/project-${n}/a.md`]);
  },
  'n messages of a session in memory, read in pages': (size) => {
    const store = createInMemorySessionStore();
    const ref = { id: 's', scopeId: 'p' };
    return async () => {
      for (let n = 0; n < size; n++) await store.append(ref, [{ role: 'user', text: 'hello' }]);
      for (let after = 0; after < size; after += 10)
        await store.messages('s', { afterSequence: after, limit: 10 });
    };
  },
};
