import type { ToolContext } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { makeTool, ok, rejection, runOne, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

describe('the end of a call', () => {
  it('accessors are dead once the call has ended', async () => {
    const { kvStoreFactory } = createInMemoryKvStore();
    const registry = new DefaultToolRegistry({
      kvStoreFactory,
      secretsBackend: async () => 'hunter2222',
    });
    let kept: ToolContext | undefined;
    registry.register(
      makeTool(
        't',
        (_args, ctx) => {
          kept = ctx;
          return ok('done');
        },
        {
          capabilities: {
            storage: { scope: 'session', kind: 'kv' },
            secrets: ['key'],
            process: { allowedBinaries: ['true'] },
            network: { allowedHosts: ['example.com'] },
            attachments: {},
          },
        },
      ),
    );
    await runOne(registry, 't');
    const late = [
      kept?.kvStore?.set('k', 'v'),
      kept?.secretsResolver?.get('key'),
      kept?.scopedProcess?.spawn('true', []),
      kept?.scopedFetch?.fetch('https://example.com/'),
      kept?.attachments?.list(),
    ];
    for (const access of late) {
      expect(await rejection(Promise.resolve(access))).toMatchObject({ code: 'CALL_ENDED' });
    }
    expect(await kvStoreFactory('t', 'session:session-1').get('k')).toBeNull();
  });

  it('files that were kept do not even say what their reach covers', async () => {
    let kept: ToolContext['scopedFs'];
    const registry = new DefaultToolRegistry({
      storage: untyped({ read: null, write: null, exists: null, list: null }),
      personalityFsReach: { read: ['/data'], write: [] },
    });
    registry.register(
      makeTool(
        't',
        (_args, ctx) => {
          kept = ctx.scopedFs;
          return ok(String(kept?.covers?.('read', '/data/a')));
        },
        { capabilities: { fs_reach: { read: 'from-personality' } } },
      ),
    );
    expect(await runOne(registry, 't')).toMatchObject({ value: 'true' });
    expect(() => kept?.covers?.('read', '/data/a')).toThrow(/^CALL_ENDED/);
  });

  it('what is added by reading and writing, and had to wait, is not written any more', async () => {
    const written: string[] = [];
    let read = () => {};
    const storage = untyped({
      read: async () => null,
      readBytes: () => new Promise((done) => (read = () => done(null))),
      write: async (path: string) => void written.push(path),
      exists: async () => true,
      list: async () => [],
    });
    const registry = new DefaultToolRegistry({
      storage,
      personalityFsReach: { read: [], write: ['/data'] },
    });
    const late: Promise<void>[] = [];
    registry.register(
      makeTool(
        't',
        (_args, { scopedFs }) => {
          for (const path of ['/data/a', '/data/b']) {
            late.push(scopedFs?.append(path, 'x') ?? Promise.resolve());
          }
          return ok('done');
        },
        { capabilities: { fs_reach: { write: 'from-personality' } } },
      ),
    );
    await runOne(registry, 't');
    for (const appending of late) {
      read();
      expect(await rejection(appending)).toMatchObject({ code: 'CALL_ENDED' });
    }
    expect(written).toEqual([]);
  });

  it('accesses that a tool forgot to await do not end the process', async () => {
    const registry = new DefaultToolRegistry({
      kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
      secretsBackend: () => new Promise((_resolve, reject) => setTimeout(reject, 5)),
    });
    registry.register(
      makeTool(
        't',
        (_args, ctx) => {
          void ctx.kvStore?.set('k', 'v');
          void ctx.secretsResolver?.get('key');
          void ctx.secretsResolver?.get('undeclared');
          void ctx.scopedProcess?.spawn('sleep', ['60']);
          void ctx.scopedProcess?.spawn('rm', []);
          void ctx.scopedFetch?.fetch('https://denied.example/');
          void ctx.attachments?.read('unknown');
          return ok('done');
        },
        {
          capabilities: {
            storage: { scope: 'session', kind: 'kv' },
            secrets: ['key'],
            process: { allowedBinaries: ['sleep'] },
            network: { allowedHosts: ['example.com'] },
            attachments: {},
          },
        },
      ),
    );
    const rejections: unknown[] = [];
    const collect = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', collect);
    expect(await runOne(registry, 't')).toEqual(ok('done'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off('unhandledRejection', collect);
    expect(rejections).toEqual([]);
  });
});
