import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDenySet, openGuard, ReachGuard } from '@ethosagent/policy';
import { expect, it, onTestFinished } from 'vitest';
import { descriptorAccess, hasDescriptors } from './access.js';
import { listFolder } from './list-folder.js';
import type { World } from './locate.js';

it.runIf(hasDescriptors())('lists no folder that leaves the reach while it is read', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'list-folder-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const [inside, outside] = [join(dir, 'inside'), join(dir, 'outside')];
  const path = join(inside, 'folder');
  mkdirSync(path, { recursive: true });
  mkdirSync(outside);
  const world: World = {
    access: {
      ...descriptorAccess,
      openFolder(...args) {
        const folder = descriptorAccess.openFolder(...args);
        const child = (name: string) => {
          renameSync(path, join(outside, 'folder'));
          writeFileSync(join(outside, 'folder', 'private'), '');
          return folder.child(name);
        };
        return { ...folder, child };
      },
    },
    guard: new ReachGuard({
      reach: { read: [inside], write: [] },
      deny: createDenySet([]),
      outer: openGuard,
      realPathOf: (path) => path,
    }),
  };
  await expect(listFolder(world, { kind: 'read', asked: path, path })).rejects.toMatchObject({
    code: 'PATH_NOT_REACHABLE',
  });
});
