import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FsStorage, InMemoryStorage } from '@ethosagent/storage-fs';
import type { Storage } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTool, ok, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'declared-')));
  for (const folder of ['real', 'other']) mkdirSync(join(root, folder));
  symlinkSync(join(root, 'real'), join(root, 'link'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** A registry with a tool that reads a file below `link`, which it declares. */
function start(storage: Storage) {
  const declared = join(root, 'link');
  const registry = new DefaultToolRegistry({
    storage,
    personalityFsReach: { read: [root], write: [] },
  });
  registry.register(
    makeTool('reader', async (_, ctx) => ok(`${await ctx.scopedFs?.read(join(declared, 'a'))}`), {
      capabilities: { fs_reach: { read: [declared] } },
    }),
  );
  return () => runOne(registry, 'reader');
}

describe('a declared folder that is a link', () => {
  it('leads where it led when the tool was registered', async () => {
    const storage = new FsStorage();
    await storage.write(join(root, 'real', 'a'), 'real');
    await storage.write(join(root, 'other', 'a'), 'other');
    const read = start(storage);
    renameSync(join(root, 'link'), join(root, 'old'));
    symlinkSync(join(root, 'other'), join(root, 'link'));
    expect(await read()).toMatchObject({ cause: 'PATH_NOT_REACHABLE' });
    rmSync(join(root, 'link'));
    renameSync(join(root, 'old'), join(root, 'link'));
    expect(await read()).toEqual(ok('real'));
  });

  it('is one on the disk alone: a storage in memory has its file below the name', async () => {
    const storage = new InMemoryStorage();
    await storage.mkdir(join(root, 'link'));
    await storage.write(join(root, 'link', 'a'), 'in memory');
    expect(await start(storage)()).toEqual(ok('in memory'));
  });
});
