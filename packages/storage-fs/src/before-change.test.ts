import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Storage, StorageChange } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FsStorage } from './fs-storage.js';

let base: string;
let inside: string;
let view: Storage;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'before-change-')));
  inside = join(base, 'inside');
  mkdirSync(join(inside, 'sub'), { recursive: true });
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(inside, 'file'), 'old');
  writeFileSync(join(inside, 'sub', 'file'), 'deep');
  view = new FsStorage().contained({
    read: [inside],
    write: [inside, join(base, 'later', 'root')],
  });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Everything on the disk, including what a storage hides, with the times of the last change. */
function snapshot(path = base): string {
  const stat = lstatSync(path, { bigint: true });
  const target = stat.isSymbolicLink() ? readlinkSync(path) : '';
  const children = stat.isDirectory() ? readdirSync(path).sort() : [];
  return [
    `${path} ${target} ${stat.size} ${stat.mode} ${stat.mtimeNs}\n`,
    ...children.map((name) => snapshot(join(path, name))),
  ].join('');
}

type Change = (path: string, opts: StorageChange) => Promise<void> | undefined;
const changes: [string, Change][] = [
  ['write', (path, opts) => view.write(path, 'x', opts)],
  ['append', (path, opts) => view.append?.(path, 'x', opts)],
  ['mkdir', (path, opts) => view.mkdir(path, opts)],
  ['rename of a file', (path, opts) => view.rename(join(inside, 'file'), path, opts)],
  ['rename of a folder', (path, opts) => view.rename(join(inside, 'sub'), path, opts)],
];
const targets = ['new', 'a/b/new', 'in/a/new'];

describe('FsStorage beforeChange', () => {
  const cases = changes.flatMap(([what, change]) =>
    targets.map((target): [string, string, Change] => [what, target, change]),
  );
  it.each(cases)(
    '%s to %s: the disk is as it was, then and after a throw',
    async (_w, to, change) => {
      symlinkSync('.', join(inside, 'in'));
      const before = snapshot();
      const seen: string[] = [];
      const beforeChange = () => {
        seen.push(snapshot());
        if (seen.length === 1) throw new Error('stop');
      };
      await expect(change(join(inside, to), { beforeChange })).rejects.toThrow('stop');
      expect(snapshot()).toBe(before);
      await change(join(inside, to), { beforeChange });
      expect(seen).toEqual([before, before]);
      expect(snapshot()).not.toBe(before);
    },
  );

  it.each([false, true])(
    'remove, recursive: %s, is announced before anything is gone',
    async (recursive) => {
      const before = snapshot();
      const seen: string[] = [];
      const path = join(inside, recursive ? 'sub' : 'file');
      await view.remove(path, { recursive, beforeChange: () => seen.push(snapshot()) });
      expect(seen).toEqual([before]);
      expect(await view.exists(path)).toBe(false);
    },
  );

  const denied = changes.flatMap(([what, change]) =>
    [
      'out/new',
      'out/a/b/new',
      'dangling/new',
      'dangling/a/b/new',
      // `later` is on the way to a root, and this path is not below that root.
      'up/later/new',
      'up/later/a/new',
    ].map((target): [string, string, Change] => [what, target, change]),
  );
  it.each(denied)(
    '%s to %s, by a link, is denied without it and makes nothing',
    async (_w, to, change) => {
      symlinkSync('../outside', join(inside, 'out'));
      symlinkSync('../outside/none', join(inside, 'dangling'));
      symlinkSync('..', join(inside, 'up'));
      const before = snapshot();
      let calls = 0;
      const beforeChange = () => {
        calls += 1;
      };
      const outcome = change(join(inside, to), { beforeChange });
      await expect(outcome).rejects.toMatchObject({ code: 'PATH_NOT_REACHABLE' });
      expect(calls).toBe(0);
      expect(snapshot()).toBe(before);
    },
  );

  it('a folder that is swapped for a link during it leads nowhere new', async () => {
    const beforeChange = () => {
      rmSync(join(inside, 'sub'), { recursive: true });
      symlinkSync('../outside', join(inside, 'sub'));
    };
    const writing = view.write(join(inside, 'sub', 'a', 'new'), 'x', { beforeChange });
    await expect(writing).rejects.toBeDefined();
    expect(await new FsStorage().list(join(base, 'outside'))).toEqual([]);
  });
});
