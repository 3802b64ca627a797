import { expect, it } from 'vitest';
import { inEmptyFolder } from '../in-empty-folder.js';
import { appends, type StorageSuiteWorld } from './storage-suite-world.js';

/** Which paths a storage takes, and which it refuses. */
export function pathTests(w: StorageSuiteWorld): void {
  const names = ['a b', 'ünï', 'e\u0301', '😀', '.hidden', '%2e', '\'"`', 'a\nb', '-rf', '*'];
  it.each(names)('Storage takes the name %j', async (file) => {
    const folder = w.fresh();
    await w.storage.write(`${folder}/${file}`, 'x');
    expect(await w.storage.read(`${folder}/${file}`)).toBe('x');
    expect(await w.storage.list(folder)).toEqual([file]);
  });

  it.each(['//', '/./', '/x/../'])('Storage takes %j in a path for one separator', async (by) => {
    const folder = w.fresh();
    await w.storage.write(`${folder}${by}file`, 'x');
    expect(await w.storage.read(`${folder}/file`)).toBe('x');
    expect(await w.storage.read(`${folder}${by}file`)).toBe('x');
    expect(await w.storage.list(`${folder}/`)).toEqual(['file']);
  });

  const expectInvalid = async (pathIn: (folder: string) => string) => {
    const folder = w.fresh();
    const path = pathIn(folder);
    const good = `${folder}/good`;
    const calls = [
      w.storage.read(path),
      w.storage.readBytes(path),
      w.storage.write(path, 'x'),
      ...appends(w.storage, path),
      w.storage.exists(path),
      w.storage.list(path),
      w.storage.listEntries(path),
      w.storage.mtime(path),
      w.storage.mkdir(path),
      w.storage.remove(path, { recursive: true }),
      w.storage.rename(path, good),
      w.storage.rename(good, path),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'PATH_INVALID' } });
    }
  };

  it('Storage refuses an empty path in every method', (context) =>
    inEmptyFolder(context, () => expectInvalid(() => '')));

  const invalid: [string, (folder: string) => string][] = [
    ['a NUL', (folder) => `${folder}/a\0b`],
    ['5,000 characters', (folder) => `${folder}/${'x/'.repeat(2_500)}`],
    ['a lone surrogate', (folder) => `${folder}/\uD800`],
  ];
  it.each(invalid)('Storage refuses %s in every method', (_what, pathIn) => expectInvalid(pathIn));
}
