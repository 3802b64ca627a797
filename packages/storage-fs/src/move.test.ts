import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGuard } from '@ethosagent/policy';
import { describe, expect, it } from 'vitest';
import { hasDescriptors, realPathAccess } from './access.js';
import { FsStorage } from './fs-storage.js';
import type { Place, World } from './locate.js';
import { assertMovable } from './move.js';

const world: World = { access: realPathAccess, guard: openGuard };
const folder = realPathAccess.openFolder(tmpdir(), true);
const stays = expect.objectContaining({ code: 'PERMISSION_DENIED' });

// Only tests the decision: a test that really removed `/` or a device, to see it refused, could do
// the damage that it should prevent.
describe('assertMovable', () => {
  it.each<[string, Place]>([
    ['/', { folder, name: '', realPath: '/', stat: lstatSync('/') }],
    ['/dev/null', { folder, name: 'null', realPath: '/dev/null', stat: lstatSync('/dev/null') }],
  ])('assertMovable refuses %s', (path, place) => {
    expect(() => assertMovable(world, place, path)).toThrow(stays);
  });

  it('assertMovable lets a file and a free place pass', () => {
    const place = { folder, name: 'x', realPath: '/x' };
    const file = lstatSync(new URL(import.meta.url));
    expect(() => assertMovable(world, { ...place, stat: file }, '/x')).not.toThrow();
    expect(() => assertMovable(world, { ...place, stat: undefined }, '/x')).not.toThrow();
  });
});

// Other systems than Linux take no such names.
describe.runIf(hasDescriptors())('removePlace', () => {
  it('removes a folder with names that are not UTF-8', async () => {
    const root = mkdtempSync(join(tmpdir(), 'move-'));
    try {
      const below = (path: string) => Buffer.from(join(root, path), 'latin1');
      mkdirSync(below('a/d\xff/e'), { recursive: true });
      writeFileSync(below('a/f\xff'), '');
      writeFileSync(below('a/d\xff/f\xfe'), '');
      await new FsStorage().contained({ read: [root], write: [root] }).remove(join(root, 'a'), {
        recursive: true,
      });
      expect(existsSync(join(root, 'a'))).toBe(false);
    } finally {
      rmSync(Buffer.from(root), { recursive: true, force: true });
    }
  });
});
