import { FsStorage } from '@ethosagent/storage-fs';
import type { ToolBatchContext, ToolContext, ToolProgressEvent } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { makeTool, ok, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

describe('Tool interface reference: ToolContext members', () => {
  async function contextWith(
    ctx: Partial<ToolBatchContext>,
    capabilities = {},
  ): Promise<ToolContext> {
    const seen: ToolContext[] = [];
    const registry = new DefaultToolRegistry({
      kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
      secretsBackend: async () => 'v',
      storage: new FsStorage(),
    });
    registry.register(
      makeTool(
        't',
        (_args, context) => {
          seen.push(context);
          return ok('');
        },
        { capabilities },
      ),
    );
    await runOne(registry, 't', {}, ctx);
    const [first] = seen;
    if (first === undefined) throw new Error('the tool did not run');
    return first;
  }

  it.each<[keyof ToolBatchContext, unknown]>([
    ['sessionId', 'sess'],
    ['sessionKey', 'cli:my-repo'],
    ['platform', 'telegram'],
    ['workingDir', '/elsewhere'],
    ['agentId', 'agent'],
    ['personalityId', 'researcher'],
    ['memoryScope', 'per-personality'],
    ['memoryScopeId', 'team:x'],
    ['userScopeId', 'user:x'],
    ['teamId', 'team'],
    ['currentTurn', 7],
    ['messageCount', 8],
    ['resultBudgetChars', 99],
    ['networkPolicy', { allow: ['a.example'], deny: ['b.example'], allow_private_urls: false }],
    ['dryRun', false],
  ])('%s reaches the tool as %j', async (name, value) => {
    expect((await contextWith({ [name]: value }))[name]).toEqual(value);
  });

  it.each([
    ['agentId'],
    ['personalityId'],
    ['memoryScope'],
    ['memoryScopeId'],
    ['userScopeId'],
    ['teamId'],
    ['storage'],
    ['readMtimes'],
    ['networkPolicy'],
    ['kvStore'],
    ['secretsResolver'],
    ['scopedFetch'],
    ['scopedFs'],
    ['scopedProcess'],
    ['attachments'],
    ['dryRun'],
  ])('%s is absent when it was not given', async (name) => {
    expect(name in (await contextWith({}))).toBe(false);
  });

  it.each<[string, object]>([
    ['kvStore', { storage: { scope: 'session', kind: 'kv' } }],
    ['secretsResolver', { secrets: ['a'] }],
    ['scopedFetch', { network: { allowedHosts: ['a.example'] } }],
    ['scopedFs', { fs_reach: { read: 'from-personality' } }],
    ['scopedProcess', { process: { allowedBinaries: ['true'] } }],
    ['attachments', { attachments: {} }],
  ])('%s is there when %j is declared, and no other accessor', async (name, capabilities) => {
    const ctx = await contextWith({}, capabilities);
    const accessors = [
      'kvStore',
      'secretsResolver',
      'scopedFetch',
      'scopedFs',
      'scopedProcess',
      'attachments',
    ];
    expect(accessors.filter((accessor) => accessor in ctx)).toEqual([name]);
  });

  it('abortSignal fires when the turn is cancelled', async () => {
    const controller = new AbortController();
    const ctx = await contextWith({ abortSignal: controller.signal });
    controller.abort('cancelled');
    expect(ctx.abortSignal.aborted).toBe(true);
  });

  it('emit emits', async () => {
    const events: ToolProgressEvent[] = [];
    const registry = new DefaultToolRegistry();
    registry.register(
      makeTool('t', (_args, { emit }) => {
        emit({ type: 'progress', toolName: 't', message: 'm' });
        return ok('');
      }),
    );
    await runOne(registry, 't', {}, { emit: (event) => events.push(event) });
    expect(events).toHaveLength(1);
  });

  it('storage, held to the call, and readMtimes reach a tool that declares fs_reach', async () => {
    const storage = new FsStorage();
    const readMtimes = new Map();
    const fs_reach = { read: 'from-personality', write: 'from-personality' };
    const ctx = await contextWith({ storage, readMtimes }, { fs_reach });
    expect(ctx.storage).toBeDefined();
    expect(ctx.readMtimes).toBe(readMtimes);
  });
});
