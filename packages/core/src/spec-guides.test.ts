import type { CapabilityValidationError, KeyValueStore } from '@ethosagent/types';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { resolveCapabilities } from './capability-resolver.js';
import { validateRegistration } from './capability-validator.js';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { makeTool, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

afterEach(() => vi.unstubAllGlobals());

const PROBED_HOSTS = ['api.exa.ai', 'api.openai.com', 'api.github.com', 'exa.ai', 'other.exa.ai'];

describe('Add a network tool: personality network intersection', () => {
  it.each<[string[], string[] | undefined, string[]]>([
    [['api.exa.ai'], ['api.exa.ai', 'api.openai.com'], ['api.exa.ai']],
    [['api.exa.ai'], ['*.exa.ai'], ['api.exa.ai']],
    [['api.exa.ai'], ['api.openai.com'], []],
    [['api.exa.ai'], undefined, ['api.exa.ai']],
    [['*'], ['api.github.com'], ['api.github.com']],
  ])('tool %j, personality %j: resolved set %j', async (allowedHosts, allow, resolved) => {
    const fetched: string[] = [];
    vi.stubGlobal('fetch', async (url: string | URL) => {
      fetched.push(new URL(url).hostname);
      return new Response();
    });
    const backends = allow === undefined ? {} : { personalityNetworkAllow: allow };
    const capabilities = { network: { allowedHosts } };
    const { scopedFetch } = resolveCapabilities('t', capabilities, { sessionId: 's' }, backends);
    const denied: string[] = [];
    const isDeclared = (host: string) => allowedHosts.includes(host) || allowedHosts.includes('*');
    for (const host of PROBED_HOSTS) {
      const error = await scopedFetch?.fetch(`https://${host}/`).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error === undefined) continue;
      expect(error).toMatchObject({
        message: isDeclared(host)
          ? expect.stringMatching(/^HOST_NOT_ALLOWED: .*the personality's safety\.network\.allow/)
          : `HOST_NOT_ALLOWED: ${host} is not in the declared allowedHosts`,
      });
      denied.push(host);
    }
    expect(fetched).toEqual(resolved);
    expect(denied).toEqual(PROBED_HOSTS.filter((host) => !resolved.includes(host)));
    const registry = new DefaultToolRegistry(backends);
    registry.register(makeTool('t', undefined, { capabilities }));
    expect(registry.describe('t', { sessionId: 's' })).toEqual({
      network: { allowedHosts: resolved },
    });
  });
});

describe('Add a filesystem tool: personality intersection', () => {
  const notCovered: CapabilityValidationError[] = [
    {
      tool: 't',
      capability: 'fs_reach.read',
      message: "/data is not covered by the personality's fs_reach.read",
    },
  ];

  it.each<
    [string[] | 'from-personality', string[] | undefined, string[], CapabilityValidationError[]]
  >([
    [['/data'], ['/data', '/home'], ['/data'], []],
    [['/data'], ['/home'], [], notCovered],
    ['from-personality', ['/data', '/home'], ['/data', '/home'], []],
    ['from-personality', undefined, [], []],
    [['/data'], undefined, [], notCovered],
  ])(
    'tool %j, personality %j: read paths %j, validation %j',
    async (read, reach, paths, errors) => {
      const capabilities = { fs_reach: { read } };
      const storage = {
        read: async () => 'x',
        write: async () => {},
        exists: async () => true,
        list: async () => [],
      };
      const backends = {
        storage: untyped(storage),
        ...(reach !== undefined && { personalityFsReach: { read: reach, write: [] } }),
      };
      const { scopedFs } = resolveCapabilities('t', capabilities, { sessionId: 's' }, backends);
      const reached: string[] = [];
      for (const path of ['/data', '/home', '/database', '/']) {
        const allowed = await scopedFs?.exists(path).catch((error: unknown) => {
          expect(error).toMatchObject({
            message: `PATH_NOT_REACHABLE: read not permitted for ${path}`,
          });
          return false;
        });
        if (allowed === true) reached.push(path);
      }
      expect(reached).toEqual(paths);
      const personality = reach === undefined ? {} : { fs_reach: { read: reach } };
      expect(validateRegistration({ name: 't', capabilities }, personality)).toEqual(errors);
    },
  );
});

describe('Add a stateful tool: scopes', () => {
  type Where = { tool: string; sessionId: string; personalityId?: string };
  const here: Where = { tool: 'one', sessionId: 'sess-abc123', personalityId: 'researcher' };

  it.each([
    ['tool-private', 'tool:one', true, false],
    ['session', 'session:sess-abc123', false, true],
    ['personality', 'personality:researcher', true, true],
  ] as const)(
    '%s is %s, survives sessions: %s, shared across tools: %s',
    async (scope, scopeId, survives, shared) => {
      const ids: string[] = [];
      const { kvStoreFactory } = createInMemoryKvStore();
      const noting = (tool: string, id: string): KeyValueStore => {
        ids.push(id);
        return kvStoreFactory(tool, id);
      };
      const open = ({ tool, ...ctx }: Where) =>
        resolveCapabilities(tool, { storage: { scope, kind: 'kv' } }, ctx, {
          kvStoreFactory: noting,
        }).kvStore;
      await open(here)?.set('k', 'v');
      expect(ids).toEqual([scopeId]);
      expect(await open({ ...here, sessionId: 'another' })?.get('k')).toBe(survives ? 'v' : null);
      expect(await open({ ...here, tool: 'two' })?.get('k')).toBe(shared ? 'v' : null);
    },
  );

  it('personality falls back to personality:<sessionId> when no personality is active', () => {
    const kvStoreFactory = vi.fn(createInMemoryKvStore().kvStoreFactory);
    const capabilities = { storage: { scope: 'personality', kind: 'kv' } } as const;
    resolveCapabilities('t', capabilities, { sessionId: 'sess-abc123' }, { kvStoreFactory });
    expect(kvStoreFactory).toHaveBeenCalledWith('t', 'personality:sess-abc123');
  });

  it.each([
    ['tool-private', 'tool:usage_counter'],
    ['session', 'session:sess-abc123'],
    ['personality', 'personality:researcher'],
  ] as const)("scope: '%s' --> scopeId = '%s'", (scope, scopeId) => {
    const kvStoreFactory = vi.fn(createInMemoryKvStore().kvStoreFactory);
    const ctx = { sessionId: 'sess-abc123', personalityId: 'researcher' };
    resolveCapabilities('usage_counter', { storage: { scope, kind: 'kv' } }, ctx, {
      kvStoreFactory,
    });
    expect(kvStoreFactory).toHaveBeenCalledWith('usage_counter', scopeId);
  });
});

describe('Add a stateful tool: the four methods', () => {
  async function use(run: (kv: KeyValueStore) => Promise<unknown>): Promise<unknown> {
    let now = 0;
    const { kvStoreFactory } = createInMemoryKvStore({ clock: () => now });
    const capabilities = { storage: { scope: 'session', kind: 'kv' } } as const;
    const { kvStore } = resolveCapabilities(
      't',
      capabilities,
      { sessionId: 's' },
      { kvStoreFactory },
    );
    if (kvStore === undefined) throw new Error('no store');
    await kvStore.set('there', 'v');
    await kvStore.set('rate-limit:user-42', '1', { ttlSeconds: 3600 });
    const early = await run(kvStore);
    now = 3_600_000;
    return [early, await kvStore.list('')];
  }

  it.each<[string, (kv: KeyValueStore) => Promise<unknown>, unknown, string[]]>([
    ['get of a key', (kv) => kv.get('there'), 'v', ['there']],
    ['get of no key', (kv) => kv.get('nowhere'), null, ['there']],
    ['set of a key', (kv) => kv.set('there', 'w'), undefined, ['there']],
    ['set of a new key', (kv) => kv.set('new', 'w'), undefined, ['new', 'there']],
    ['set with ttlSeconds', (kv) => kv.set('new', 'w', { ttlSeconds: 3600 }), undefined, ['there']],
    ['delete of a key', (kv) => kv.delete('there'), undefined, []],
    ['delete of no key', (kv) => kv.delete('nowhere'), undefined, ['there']],
    ['list of a prefix', (kv) => kv.list('rate-limit:'), ['rate-limit:user-42'], ['there']],
  ])('%s', async (_name, run, result, keysAnHourLater) => {
    expect(await use(run)).toEqual([result, keysAnHourLater]);
  });
});
