import { expect, it } from 'vitest';
import { code, type StorageSuiteWorld } from './storage-suite-world.js';

/** What is gone after a remove, and where it is after a rename. */
export function removeRenameTests(w: StorageSuiteWorld): void {
  it('Storage.remove removes a file, and a folder only with recursive: true', async () => {
    const folder = w.fresh();
    await w.storage.write(`${folder}/a/file`, 'x');
    await w.storage.write(`${folder}/a/b/file`, 'x');
    await w.storage.write(`${folder}/ab`, 'x');
    await w.storage.remove(`${folder}/a/file`);
    expect(await w.storage.exists(`${folder}/a/file`)).toBe(false);
    await expect(w.storage.remove(`${folder}/a`)).rejects.toEqual(code('NOT_A_FILE'));
    expect(await w.storage.exists(`${folder}/a/b/file`)).toBe(true);
    await w.storage.remove(`${folder}/a`, { recursive: true });
    expect(await w.storage.list(folder)).toEqual(['ab']);
  });

  it('Storage.rename moves files and folders, and makes missing folders', async () => {
    const folder = w.fresh();
    await w.storage.write(`${folder}/a/file`, 'x');
    await w.storage.rename(`${folder}/a/file`, `${folder}/new/deep/file`);
    expect(await w.storage.read(`${folder}/new/deep/file`)).toBe('x');
    expect(await w.storage.exists(`${folder}/a/file`)).toBe(false);
    await w.storage.rename(`${folder}/new`, `${folder}/moved`);
    expect(await w.storage.read(`${folder}/moved/deep/file`)).toBe('x');
    expect(await w.storage.list(folder)).toEqual(['a', 'moved']);
  });

  it('Storage.rename replaces a file and nothing else', async () => {
    const folder = w.fresh();
    await w.storage.write(`${folder}/from`, 'new');
    await w.storage.write(`${folder}/to`, 'old');
    await w.storage.rename(`${folder}/from`, `${folder}/to`);
    expect(await w.storage.read(`${folder}/to`)).toBe('new');
    expect(await w.storage.exists(`${folder}/from`)).toBe(false);
    await w.storage.mkdir(`${folder}/sub`);
    const taken = code('ALREADY_EXISTS');
    await expect(w.storage.rename(`${folder}/to`, `${folder}/sub`)).rejects.toEqual(taken);
    await expect(w.storage.rename(`${folder}/sub`, `${folder}/to`)).rejects.toEqual(taken);
    expect(await w.storage.read(`${folder}/to`)).toBe('new');
  });

  it('Storage.rename to itself changes nothing, and into itself fails', async () => {
    const folder = w.fresh();
    await w.storage.write(`${folder}/a/file`, 'x');
    await w.storage.rename(`${folder}/a/file`, `${folder}/a/file`);
    await w.storage.rename(`${folder}/a`, `${folder}/a`);
    const inside = w.storage.rename(`${folder}/a`, `${folder}/a/b`);
    await expect(inside).rejects.toEqual(code('STORAGE_FAILED'));
    expect(await w.storage.read(`${folder}/a/file`)).toBe('x');
  });
}
