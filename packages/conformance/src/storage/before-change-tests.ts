import type { Storage, StorageChange } from '@ethosagent/types';
import { expect, it } from 'vitest';
import { appends, type StorageSuiteWorld, treeOf } from './storage-suite-world.js';

/** A change in a folder with the files `file` and `sub/file`. */
type Change = (storage: Storage, folder: string, opts: StorageChange) => Promise<void> | undefined;
const changes: [string, Change][] = [
  ['write of a new file', (s, f, opts) => s.write(`${f}/new`, 'x', opts)],
  ['write in missing folders', (s, f, opts) => s.write(`${f}/a/b/new`, 'x', opts)],
  ['write over a file', (s, f, opts) => s.write(`${f}/file`, 'x', opts)],
  ['append to nothing', (s, f, opts) => s.append?.(`${f}/new`, 'x', opts)],
  ['append in missing folders', (s, f, opts) => s.append?.(`${f}/a/b/new`, 'x', opts)],
  ['append to a file', (s, f, opts) => s.append?.(`${f}/file`, 'x', opts)],
  ['mkdir of missing folders', (s, f, opts) => s.mkdir(`${f}/a/b`, opts)],
  ['remove of a file', (s, f, opts) => s.remove(`${f}/file`, opts)],
  ['remove of a folder', (s, f, opts) => s.remove(`${f}/sub`, { ...opts, recursive: true })],
  ['rename of a file', (s, f, opts) => s.rename(`${f}/file`, `${f}/new`, opts)],
  ['rename over a file', (s, f, opts) => s.rename(`${f}/sub/file`, `${f}/file`, opts)],
  ['rename into missing folders', (s, f, opts) => s.rename(`${f}/file`, `${f}/a/b/new`, opts)],
  ['rename of a folder', (s, f, opts) => s.rename(`${f}/sub`, `${f}/a/sub`, opts)],
];
const nonChanges: [string, Change][] = [
  ['append of nothing to a file', (s, f, opts) => s.append?.(`${f}/file`, '', opts)],
  ['mkdir of a folder that is there', (s, f, opts) => s.mkdir(`${f}/sub`, opts)],
  ['remove of what is not there', (s, f, opts) => s.remove(`${f}/none`, opts)],
  ['remove in a folder that is not there', (s, f, opts) => s.remove(`${f}/none/x`, opts)],
  ['rename of a file to itself', (s, f, opts) => s.rename(`${f}/file`, `${f}/file`, opts)],
];

/** `beforeChange` is called once, just before a change, and can stop it. */
export function beforeChangeTests(w: StorageSuiteWorld): void {
  it.each([...changes, ...nonChanges])(
    'Storage calls beforeChange once: %s',
    async (what, change) => {
      const { folder, before } = await w.withFiles();
      let calls = 0;
      const beforeChange = () => {
        calls += 1;
      };
      const changing = change(w.storage, folder, { beforeChange });
      if (changing === undefined) return;
      await changing;
      expect(calls).toBe(1);
      const isChange = changes.some(([name]) => name === what);
      const after = await treeOf(w.storage, folder);
      if (isChange) expect(after).not.toEqual(before);
      else expect(after).toEqual(before);
    },
  );

  it.each([...changes, ...nonChanges])(
    'Storage throws on what beforeChange throws, and nothing was changed: %s',
    async (_what, change) => {
      const { folder, before } = await w.withFiles();
      // The error looks like one of the operating system, but it is the caller's.
      const stop = Object.assign(new Error('stop'), { code: 'ENOENT', syscall: 'mkdir' });
      const beforeChange = () => {
        throw stop;
      };
      const outcome = await change(w.storage, folder, { beforeChange })?.catch((error) => error);
      if (outcome === undefined && w.storage.append === undefined) return;
      expect(outcome).toBe(stop);
      expect(await treeOf(w.storage, folder)).toEqual(before);
    },
  );

  it('Storage does not call beforeChange for what fails before any change', async () => {
    const { folder } = await w.withFiles();
    let calls = 0;
    const beforeChange = () => {
      calls += 1;
    };
    const failing = [
      w.storage.write('', 'x', { beforeChange }),
      w.storage.write(`${folder}/sub`, 'x', { beforeChange }),
      w.storage.write(`${folder}/file/child`, 'x', { beforeChange }),
      ...appends(w.storage, '', { beforeChange }),
      ...appends(w.storage, `${folder}/sub`, { beforeChange }),
      ...appends(w.storage, `${folder}/file/child`, { beforeChange }),
      w.storage.mkdir(`${folder}/file`, { beforeChange }),
      w.storage.mkdir(`${folder}/file/child`, { beforeChange }),
      w.storage.remove(`${folder}/sub`, { beforeChange }),
      w.storage.rename(`${folder}/none`, `${folder}/a/b`, { beforeChange }),
      w.storage.rename(`${folder}/file`, `${folder}/sub`, { beforeChange }),
      w.storage.rename(`${folder}/sub`, `${folder}/file`, { beforeChange }),
    ];
    for (const outcome of await Promise.allSettled(failing)) {
      expect(outcome.status).toBe('rejected');
    }
    expect(calls).toBe(0);
  });
}
