import type { Measured } from '@ethosagent/test-support';
import type { ToolCapabilities } from '@ethosagent/types';
import { createInMemoryKvStore } from '../in-memory-kv.js';
import { createInMemorySessionStore } from '../in-memory-sessions.js';
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
