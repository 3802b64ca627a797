import { expect, it } from 'vitest';
import { appends, code, type StorageSuiteWorld } from './storage-suite-world.js';

/** What a storage answers where nothing is, or where a folder is instead of a file. */
export function wrongKindTests(w: StorageSuiteWorld): void {
  it('Storage answers for what is not there', async () => {
    const folder = w.fresh();
    await w.storage.write(`${folder}/file`, 'x');
    for (const path of [`${folder}/none`, `${folder}/none/deeper`, `${folder}/file/child`]) {
      expect(await w.storage.read(path)).toBeNull();
      expect(await w.storage.readBytes(path)).toBeNull();
      expect(await w.storage.exists(path)).toBe(false);
      expect(await w.storage.mtime(path)).toBeNull();
      expect(await w.storage.list(path)).toEqual([]);
      expect(await w.storage.listEntries(path)).toEqual([]);
      await w.storage.remove(path);
      await w.storage.remove(path, { recursive: true });
    }
    const move = w.storage.rename(`${folder}/none`, `${folder}/new`);
    await expect(move).rejects.toEqual(code('FILE_NOT_FOUND'));
  });

  it('Storage tells a folder from a file', async () => {
    const folder = w.fresh();
    await w.storage.write(`${folder}/file`, 'x');
    await w.storage.mkdir(`${folder}/sub`);
    await expect(w.storage.read(`${folder}/sub`)).rejects.toEqual(code('NOT_A_FILE'));
    await expect(w.storage.readBytes(`${folder}/sub`)).rejects.toEqual(code('NOT_A_FILE'));
    await expect(w.storage.write(`${folder}/sub`, 'x')).rejects.toEqual(code('NOT_A_FILE'));
    for (const adding of appends(w.storage, `${folder}/sub`)) {
      await expect(adding).rejects.toEqual(code('NOT_A_FILE'));
    }
    await expect(w.storage.list(`${folder}/file`)).rejects.toEqual(code('NOT_A_DIRECTORY'));
    await expect(w.storage.mkdir(`${folder}/file`)).rejects.toEqual(code('NOT_A_DIRECTORY'));
    const below = w.storage.write(`${folder}/file/child`, 'x');
    await expect(below).rejects.toEqual(code('NOT_A_DIRECTORY'));
    expect(await w.storage.read(`${folder}/file`)).toBe('x');
  });

  it('Storage names the path asked for in an error', async () => {
    const folder = w.fresh();
    await w.storage.mkdir(`${folder}/sub`);
    await expect(w.storage.read(`${folder}/sub`)).rejects.toThrow(`${folder}/sub`);
  });
}
