import { expect, it } from 'vitest';
import type { StorageSuiteWorld } from './storage-suite-world.js';

/** How folders are listed and made, and when a file was written. */
export function folderTests(w: StorageSuiteWorld): void {
  it('Storage.list gives the children in code point order, of any depth one', async () => {
    const folder = w.fresh();
    for (const file of ['b', 'a', 'B', '😀', '\uFF5E', 'c/d/e', 'a0']) {
      await w.storage.write(`${folder}/${file}`, '');
    }
    expect(await w.storage.list(folder)).toEqual(['B', 'a', 'a0', 'b', 'c', '\uFF5E', '😀']);
    expect(await w.storage.listEntries(`${folder}/c`)).toEqual([{ name: 'd', isDir: true }]);
    expect(await w.storage.listEntries(`${folder}/c/d`)).toEqual([{ name: 'e', isDir: false }]);
  });

  it('Storage.mkdir makes missing parents and leaves what is there', async () => {
    const folder = w.fresh();
    await w.storage.mkdir(`${folder}/a/b`);
    await w.storage.write(`${folder}/a/b/file`, 'x');
    await w.storage.mkdir(`${folder}/a/b`);
    expect(await w.storage.list(`${folder}/a/b`)).toEqual(['file']);
  });

  it('Storage.mtime is the time of the last write', async () => {
    const path = `${w.fresh()}/file`;
    await w.storage.write(path, 'x');
    const first = await w.storage.mtime(path);
    expect(first).toBeTypeOf('number');
    await new Promise((done) => setTimeout(done, 30));
    await w.storage.write(path, 'y');
    expect(await w.storage.mtime(path)).toBeGreaterThan(first ?? Number.POSITIVE_INFINITY);
  });
}
