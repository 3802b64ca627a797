import { FsStorage } from '@ethosagent/storage-fs';
import type { ToolCapabilities } from '@ethosagent/types';
import { describe, expect, it, vi } from 'vitest';
import { resolveCapabilities, type ScopedAccessors } from './capability-resolver.js';
import { createInMemoryKvStore } from './in-memory-kv.js';
import {
  ScopedFetchImpl,
  ScopedFsImpl,
  ScopedProcessImpl,
  ScopedSecretsImpl,
} from './scoped/index.js';
import { makeTool, ok, rejection, runOne } from './testing/batch.js';
import { resolve, root, stubFetch } from './testing/spec-world.js';
import { DefaultToolRegistry } from './tool-registry.js';

describe('Tool capabilities reference: ToolCapabilities fields', () => {
  it.each<[string, ToolCapabilities, string[]]>([
    ['{}', {}, []],
    ['network', { network: { allowedHosts: ['api.github.com'] } }, ['scopedFetch']],
    ['secrets', { secrets: ['a'] }, ['secretsResolver']],
    ['storage', { storage: { scope: 'session', kind: 'kv' } }, ['kvStore']],
    ['fs_reach', { fs_reach: { read: 'from-personality' } }, ['scopedFs']],
    ['process', { process: { allowedBinaries: ['true'] } }, ['scopedProcess']],
  ])('%s gives %j: %j', (_name, capabilities, accessors) => {
    expect(Object.keys(resolve(capabilities))).toEqual(accessors);
  });

  it.each<
    [
      string,
      ToolCapabilities,
      (accessors: ScopedAccessors) => Promise<unknown> | undefined,
      unknown,
    ]
  >([
    [
      'network: exact',
      { network: { allowedHosts: ['api.github.com'] } },
      (a) => a.scopedFetch?.fetch('https://api.github.com/').then((r) => r.text()),
      'stubbed',
    ],
    [
      'network: wildcard',
      { network: { allowedHosts: ['*'] } },
      (a) => a.scopedFetch?.fetch('https://raw.github.com/').then((r) => r.text()),
      'stubbed',
    ],
    [
      'network: subdomain wildcard',
      { network: { allowedHosts: ['*.github.com'] } },
      (a) => a.scopedFetch?.fetch('https://api.github.com/').then((r) => r.text()),
      'stubbed',
    ],
    ['secrets', { secrets: ['a'] }, (a) => a.secretsResolver?.get('a'), 'value of a'],
    [
      'storage',
      { storage: { scope: 'session', kind: 'kv' } },
      (a) => a.kvStore?.set('k', 'v').then(() => a.kvStore?.get('k')),
      'v',
    ],
    [
      'fs_reach: from-personality',
      { fs_reach: { read: 'from-personality' } },
      (a) => a.scopedFs?.exists(root),
      true,
    ],
    ['fs_reach: paths', { fs_reach: { read: [root] } }, (a) => a.scopedFs?.exists(root), true],
    [
      'process: exact',
      { process: { allowedBinaries: ['true'] } },
      (a) => a.scopedProcess?.spawn('true', []).then((r) => r.exitCode),
      0,
    ],
    [
      'process: wildcard',
      { process: { allowedBinaries: ['*'] } },
      (a) => a.scopedProcess?.spawn('true', []).then((r) => r.exitCode),
      0,
    ],
  ])('%s works', async (_name, capabilities, use, expected) => {
    stubFetch();
    expect(await use(resolve(capabilities))).toEqual(expected);
  });
});

describe('Tool capabilities reference: StorageScope values', () => {
  it.each([
    ['tool-private', 'p', 'tool:tool'],
    ['session', 'p', 'session:s'],
    ['personality', 'p', 'personality:p'],
    ['personality', undefined, 'personality:s'],
    ['session', undefined, 'session:s'],
  ] as const)('%s with personality %s is %s', (scope, personalityId, scopeId) => {
    const kvStoreFactory = vi.fn(createInMemoryKvStore().kvStoreFactory);
    const ctx = { sessionId: 's', ...(personalityId !== undefined && { personalityId }) };
    resolveCapabilities('tool', { storage: { scope, kind: 'kv' } }, ctx, { kvStoreFactory });
    expect(kvStoreFactory.mock.calls).toEqual([['tool', scopeId]]);
  });
});

describe('Tool capabilities reference: KeyValueStore methods', () => {
  const kv = () => {
    const { kvStore } = resolve({
      storage: { scope: 'session', kind: 'kv', ttlSecondsDefault: 60 },
    });
    if (kvStore === undefined) throw new Error('no store');
    return kvStore;
  };

  it('get: null for a key that does not exist', async () => {
    expect(await kv().get('k')).toBeNull();
  });

  it('get: null for a key that has expired', async () => {
    let now = 0;
    const { kvStoreFactory } = createInMemoryKvStore({ clock: () => now });
    const storage = { scope: 'session', kind: 'kv', ttlSecondsDefault: 60 } as const;
    const { kvStore } = resolve({ storage }, { kvStoreFactory });
    await kvStore?.set('default', 'v');
    await kvStore?.set('longer', 'v', { ttlSeconds: 120 });
    now = 60_000;
    expect([await kvStore?.get('default'), await kvStore?.get('longer')]).toEqual([null, 'v']);
  });

  it('set: resolves to nothing and replaces', async () => {
    const store = kv();
    expect(await store.set('k', '1')).toBeUndefined();
    await store.set('k', '2');
    expect(await store.get('k')).toBe('2');
  });

  it('delete: resolves to nothing, also for a key that does not exist', async () => {
    const store = kv();
    await store.set('k', '1');
    expect([await store.delete('k'), await store.delete('k'), await store.get('k')]).toEqual([
      undefined,
      undefined,
      null,
    ]);
  });

  it('list: names of the keys that start with the prefix', async () => {
    const store = kv();
    for (const key of ['user:2', 'user:1', 'USER:3', 'use']) await store.set(key, 'v');
    expect(await store.list('user:')).toEqual(['user:1', 'user:2']);
  });
});

describe('Tool capabilities reference: ScopedFetch host matching', () => {
  it.each([
    ['api.github.com', 'api.github.com', true],
    ['api.github.com', 'raw.github.com', false],
    ['api.github.com', 'api.github.com.evil.com', false],
    ['*', 'anything.example', true],
    ['*.github.com', 'api.github.com', true],
    ['*.github.com', 'raw.github.com', true],
    ['*.github.com', 'github.com', false],
    ['*.github.com', 'evilgithub.com', false],
  ])('%s and %s: %s', async (pattern, host, allowed) => {
    const urls = stubFetch();
    const fetching = new ScopedFetchImpl(new Set([pattern])).fetch(`https://${host}/`);
    if (allowed) {
      expect(await (await fetching).text()).toBe('stubbed');
      expect(urls).toHaveLength(1);
    } else {
      expect(await rejection(fetching)).toMatchObject({ code: 'HOST_NOT_ALLOWED' });
      expect(urls).toEqual([]);
    }
  });

  it('the resolved set may be smaller than the declared set', async () => {
    const { scopedFetch } = resolve({
      network: { allowedHosts: ['api.github.com', 'api.stripe.com'] },
    });
    stubFetch();
    expect((await scopedFetch?.fetch('https://api.github.com/'))?.ok).toBe(true);
    expect(
      await rejection(Promise.resolve(scopedFetch?.fetch('https://api.stripe.com/'))),
    ).toMatchObject({
      code: 'HOST_NOT_ALLOWED',
    });
  });
});

describe('Tool capabilities reference: ScopedFs methods', () => {
  const storage = {
    read: async (path: string) => (path.endsWith('missing') ? null : 'text'),
    write: vi.fn(async () => {}),
    exists: async () => false,
    list: async () => ['child'],
  };
  const fs = new ScopedFsImpl(storage, new Set(['/read']), new Set(['/write']));

  it.each<[string, () => Promise<unknown>, unknown]>([
    ['read', () => fs.read('/read/file'), 'text'],
    ['write', () => fs.write('/write/file', 'text'), undefined],
    ['write a Buffer', () => fs.write('/write/file', Buffer.from('text')), undefined],
    ['exists', () => fs.exists('/read/file'), false],
    ['list', () => fs.list('/read'), ['child']],
  ])('%s gives %s', async (_name, use, expected) => {
    expect(await use()).toEqual(expected);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['read', () => fs.read('/write/file'), 'read not permitted for /write/file'],
    ['write', () => fs.write('/read/file', ''), 'write not permitted for /read/file'],
    ['exists', () => fs.exists('/write/file'), 'read not permitted for /write/file'],
    ['list', () => fs.list('/write'), 'read not permitted for /write'],
  ])('%s outside its set throws', async (_name, use, message) => {
    expect(await rejection(use())).toMatchObject({ message: `PATH_NOT_REACHABLE: ${message}` });
  });

  it('read throws for a file that does not exist', async () => {
    expect(await rejection(fs.read('/read/missing'))).toMatchObject({ code: 'FILE_NOT_FOUND' });
  });
});

const CATALOG: Array<[string, () => Promise<unknown>, string]> = [
  [
    'HOST_NOT_ALLOWED',
    () => new ScopedFetchImpl(new Set()).fetch('https://api.stripe.com/'),
    'api.stripe.com is not in the declared allowedHosts',
  ],
  [
    'SECRET_NOT_DECLARED',
    () => new ScopedSecretsImpl(new Set(), async () => '').get('STRIPE_KEY'),
    "STRIPE_KEY is not in the tool's declared secrets",
  ],
  [
    'PATH_NOT_REACHABLE',
    () => new ScopedFsImpl(new FsStorage(), new Set(), new Set()).read('/etc/passwd'),
    'read not permitted for /etc/passwd',
  ],
  [
    'BINARY_NOT_ALLOWED',
    () => new ScopedProcessImpl(new Set()).spawn('rm', []),
    'rm is not in the declared allowedBinaries',
  ],
];

describe('Tool capabilities reference: Error catalog', () => {
  it.each(CATALOG)('%s is the code and the beginning of the message', async (code, use) => {
    const error = await rejection(use());
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ code, message: expect.stringMatching(new RegExp(`^${code}: `)) });
  });
});

describe('Tool capabilities reference: Error message format', () => {
  it.each(CATALOG)('%s', async (code, use, detail) => {
    expect(await rejection(use())).toMatchObject({ message: `${code}: ${detail}` });
  });

  it.each(CATALOG)('%s reaches the model as execution_failed', async (code, use, detail) => {
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t', async () => ok(String(await use()))));
    expect(await runOne(registry, 't')).toEqual({
      ok: false,
      code: 'execution_failed',
      error: `${code}: ${detail}`,
      cause: code,
    });
  });
});
