import type { Storage, StorageChange } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** A storage to test, and a folder in it for the tests. */
export interface StorageUnderTest {
  storage: Storage;
  /** The absolute path of an empty folder, which need not exist. Tests write only below it. */
  root: string;
  /** Closes the storage. Called once, after all tests. */
  close?(): void | Promise<void>;
}

/** All changes, in a folder with the files `file` and `sub/file`. */
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

/** Returns all files below a folder with their content. The name of a folder ends in a slash. */
async function treeOf(storage: Storage, folder: string): Promise<Record<string, string | null>> {
  const tree: Record<string, string | null> = {};
  for (const { name, isDir } of await storage.listEntries(folder)) {
    const path = `${folder}/${name}`;
    if (isDir) Object.assign(tree, { [`${path}/`]: null }, await treeOf(storage, path));
    else tree[path] = await storage.read(path);
  }
  return tree;
}

/** Appends to a file. Returns no promise if the storage can't append. */
function appends(storage: Storage, path: string, opts?: StorageChange): Promise<void>[] {
  return storage.append === undefined ? [] : [storage.append(path, 'x', opts)];
}

const code = (expected: string) => expect.objectContaining({ code: expected });

/**
 * Registers tests that a storage keeps the contract of `Storage`. Call it in a test file.
 *
 * @param name the name of the storage, for the names of the tests
 * @param create creates the storage; called once, before the tests
 */
export function storageConformance(
  name: string,
  create: () => StorageUnderTest | Promise<StorageUnderTest>,
): void {
  describe(`${name} as a Storage`, () => {
    let subject: StorageUnderTest;
    let storage: Storage;
    let folders = 0;
    /** A folder of its own for each test. */
    const fresh = () => {
      folders += 1;
      return `${subject.root}/${folders}`;
    };

    beforeAll(async () => {
      subject = await create();
      storage = subject.storage;
    });
    afterAll(() => subject.close?.());

    const texts = ['', 'plain', 'a\r\nb\n', '\uFEFFbom', 'żółć 😀', '\0', '$1 $& `x`'];
    it.each(texts)('Storage.read returns the text %j as it was written', async (text) => {
      const path = `${fresh()}/file.txt`;
      await storage.write(path, text);
      expect(await storage.read(path)).toBe(text);
      expect(Buffer.from((await storage.readBytes(path)) ?? []).toString('utf8')).toBe(text);
    });

    it.each([0, 1, 127, 131_072, 131_073, 3_000_000])(
      'Storage.readBytes returns %d bytes as they were written',
      async (length) => {
        const path = `${fresh()}/bytes`;
        const bytes = Uint8Array.from({ length }, (_, index) => (index * 31) % 256);
        await storage.write(path, bytes);
        const back = await storage.readBytes(path);
        expect(back).toBeInstanceOf(Uint8Array);
        expect(back?.length).toBe(length);
        expect(Buffer.compare(back ?? new Uint8Array(1), bytes)).toBe(0);
      },
    );

    it('Storage.write keeps no hold on the array, and readBytes gives none away', async () => {
      const path = `${fresh()}/bytes`;
      const bytes = Uint8Array.of(1, 2, 3);
      const writing = storage.write(path, bytes);
      bytes[0] = 9;
      await writing;
      const first = await storage.readBytes(path);
      expect([...(first ?? [])]).toEqual([1, 2, 3]);
      first?.fill(7);
      expect([...((await storage.readBytes(path)) ?? [])]).toEqual([1, 2, 3]);
    });

    it('Storage.write replaces, also by less, and makes missing folders', async () => {
      const path = `${fresh()}/a/b/c.txt`;
      await storage.write(path, 'something longer');
      await storage.write(path, 'short');
      expect(await storage.read(path)).toBe('short');
    });

    it('Storage.write lets 50 writers of one path all succeed, and one of them wins', async () => {
      const folder = fresh();
      const values = Array.from({ length: 50 }, (_, index) => `${index}:`.repeat(2_000));
      await Promise.all(values.map((value) => storage.write(`${folder}/same`, value)));
      expect(values).toContain(await storage.read(`${folder}/same`));
      expect(await storage.list(folder)).toEqual(['same']);
    });

    it('Storage.append adds text and bytes to what is there, and makes a file and its folders', async () => {
      if (storage.append === undefined) return;
      const path = `${fresh()}/a/b/log`;
      await storage.append(path, 'żółć ');
      await storage.append(path, Uint8Array.of(0, 255, 10));
      await storage.append(path, '');
      const bytes = Uint8Array.of(1, 2);
      const adding = storage.append(path, bytes);
      bytes[0] = 9;
      await adding;
      const expected = [...Buffer.from('żółć '), 0, 255, 10, 1, 2];
      expect([...((await storage.readBytes(path)) ?? [])]).toEqual(expected);
      await storage.write(path, 'new');
      await storage.append(path, 'er');
      expect(await storage.read(path)).toBe('newer');
    });

    it('Storage.append keeps what 50 appends at once add, each whole', async () => {
      if (storage.append === undefined) return;
      const path = `${fresh()}/log`;
      const lines = Array.from({ length: 50 }, (_, index) => `${index}:`.repeat(2_000));
      await Promise.all(lines.map((line) => storage.append?.(path, `${line}\n`)));
      const found = (await storage.read(path))?.split('\n');
      expect(found?.sort()).toEqual(['', ...lines].sort());
    });

    it('Storage.append gives none of its own bytes away, and takes over none of a copy', async () => {
      if (storage.append === undefined) return;
      const folder = fresh();
      await storage.append(`${folder}/log`, 'a');
      await storage.append(`${folder}/log`, 'b');
      (await storage.readBytes(`${folder}/log`))?.fill(7);
      await storage.rename(`${folder}/log`, `${folder}/moved`);
      await storage.append(`${folder}/log`, 'other');
      await storage.append(`${folder}/moved`, 'c');
      expect(await storage.read(`${folder}/moved`)).toBe('abc');
      expect(await storage.read(`${folder}/log`)).toBe('other');
    });

    const names = ['a b', 'ünï', 'e\u0301', '😀', '.hidden', '%2e', '\'"`', 'a\nb', '-rf', '*'];
    it.each(names)('Storage takes the name %j', async (file) => {
      const folder = fresh();
      await storage.write(`${folder}/${file}`, 'x');
      expect(await storage.read(`${folder}/${file}`)).toBe('x');
      expect(await storage.list(folder)).toEqual([file]);
    });

    it.each(['//', '/./', '/x/../'])('Storage takes %j in a path for one separator', async (by) => {
      const folder = fresh();
      await storage.write(`${folder}${by}file`, 'x');
      expect(await storage.read(`${folder}/file`)).toBe('x');
      expect(await storage.read(`${folder}${by}file`)).toBe('x');
      expect(await storage.list(`${folder}/`)).toEqual(['file']);
    });

    const invalid: [string, (folder: string) => string][] = [
      ['an empty path', () => ''],
      ['a NUL', (folder) => `${folder}/a\0b`],
      ['5,000 characters', (folder) => `${folder}/${'x/'.repeat(2_500)}`],
      ['a lone surrogate', (folder) => `${folder}/\uD800`],
    ];
    it.each(invalid)('Storage refuses %s in every method', async (_what, pathIn) => {
      const folder = fresh();
      const path = pathIn(folder);
      const good = `${folder}/good`;
      const calls = [
        storage.read(path),
        storage.readBytes(path),
        storage.write(path, 'x'),
        ...appends(storage, path),
        storage.exists(path),
        storage.list(path),
        storage.listEntries(path),
        storage.mtime(path),
        storage.mkdir(path),
        storage.remove(path, { recursive: true }),
        storage.rename(path, good),
        storage.rename(good, path),
      ];
      for (const outcome of await Promise.allSettled(calls)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'PATH_INVALID' } });
      }
    });

    it('Storage answers for what is not there', async () => {
      const folder = fresh();
      await storage.write(`${folder}/file`, 'x');
      for (const path of [`${folder}/none`, `${folder}/none/deeper`, `${folder}/file/child`]) {
        expect(await storage.read(path)).toBeNull();
        expect(await storage.readBytes(path)).toBeNull();
        expect(await storage.exists(path)).toBe(false);
        expect(await storage.mtime(path)).toBeNull();
        expect(await storage.list(path)).toEqual([]);
        expect(await storage.listEntries(path)).toEqual([]);
        await storage.remove(path);
        await storage.remove(path, { recursive: true });
      }
      const move = storage.rename(`${folder}/none`, `${folder}/new`);
      await expect(move).rejects.toEqual(code('FILE_NOT_FOUND'));
    });

    it('Storage tells a folder from a file', async () => {
      const folder = fresh();
      await storage.write(`${folder}/file`, 'x');
      await storage.mkdir(`${folder}/sub`);
      await expect(storage.read(`${folder}/sub`)).rejects.toEqual(code('NOT_A_FILE'));
      await expect(storage.readBytes(`${folder}/sub`)).rejects.toEqual(code('NOT_A_FILE'));
      await expect(storage.write(`${folder}/sub`, 'x')).rejects.toEqual(code('NOT_A_FILE'));
      for (const adding of appends(storage, `${folder}/sub`)) {
        await expect(adding).rejects.toEqual(code('NOT_A_FILE'));
      }
      await expect(storage.list(`${folder}/file`)).rejects.toEqual(code('NOT_A_DIRECTORY'));
      await expect(storage.mkdir(`${folder}/file`)).rejects.toEqual(code('NOT_A_DIRECTORY'));
      const below = storage.write(`${folder}/file/child`, 'x');
      await expect(below).rejects.toEqual(code('NOT_A_DIRECTORY'));
      expect(await storage.read(`${folder}/file`)).toBe('x');
    });

    it('Storage names the path asked for in an error', async () => {
      const folder = fresh();
      await storage.mkdir(`${folder}/sub`);
      await expect(storage.read(`${folder}/sub`)).rejects.toThrow(`${folder}/sub`);
    });

    it('Storage.list gives the children in code point order, of any depth one', async () => {
      const folder = fresh();
      for (const file of ['b', 'a', 'B', '😀', '\uFF5E', 'c/d/e', 'a0']) {
        await storage.write(`${folder}/${file}`, '');
      }
      expect(await storage.list(folder)).toEqual(['B', 'a', 'a0', 'b', 'c', '\uFF5E', '😀']);
      expect(await storage.listEntries(`${folder}/c`)).toEqual([{ name: 'd', isDir: true }]);
      expect(await storage.listEntries(`${folder}/c/d`)).toEqual([{ name: 'e', isDir: false }]);
    });

    it('Storage.mkdir makes missing parents and leaves what is there', async () => {
      const folder = fresh();
      await storage.mkdir(`${folder}/a/b`);
      await storage.write(`${folder}/a/b/file`, 'x');
      await storage.mkdir(`${folder}/a/b`);
      expect(await storage.list(`${folder}/a/b`)).toEqual(['file']);
    });

    it('Storage.mtime is the time of the last write', async () => {
      const path = `${fresh()}/file`;
      await storage.write(path, 'x');
      const first = await storage.mtime(path);
      expect(first).toBeTypeOf('number');
      await new Promise((done) => setTimeout(done, 30));
      await storage.write(path, 'y');
      expect(await storage.mtime(path)).toBeGreaterThan(first ?? Number.POSITIVE_INFINITY);
    });

    it('Storage.remove takes a file, and a folder only when it is told to', async () => {
      const folder = fresh();
      await storage.write(`${folder}/a/file`, 'x');
      await storage.write(`${folder}/a/b/file`, 'x');
      await storage.write(`${folder}/ab`, 'x');
      await storage.remove(`${folder}/a/file`);
      expect(await storage.exists(`${folder}/a/file`)).toBe(false);
      await expect(storage.remove(`${folder}/a`)).rejects.toEqual(code('NOT_A_FILE'));
      expect(await storage.exists(`${folder}/a/b/file`)).toBe(true);
      await storage.remove(`${folder}/a`, { recursive: true });
      expect(await storage.list(folder)).toEqual(['ab']);
    });

    it('Storage.rename moves files and folders, and makes missing folders', async () => {
      const folder = fresh();
      await storage.write(`${folder}/a/file`, 'x');
      await storage.rename(`${folder}/a/file`, `${folder}/new/deep/file`);
      expect(await storage.read(`${folder}/new/deep/file`)).toBe('x');
      expect(await storage.exists(`${folder}/a/file`)).toBe(false);
      await storage.rename(`${folder}/new`, `${folder}/moved`);
      expect(await storage.read(`${folder}/moved/deep/file`)).toBe('x');
      expect(await storage.list(folder)).toEqual(['a', 'moved']);
    });

    it('Storage.rename replaces a file and nothing else', async () => {
      const folder = fresh();
      await storage.write(`${folder}/from`, 'new');
      await storage.write(`${folder}/to`, 'old');
      await storage.rename(`${folder}/from`, `${folder}/to`);
      expect(await storage.read(`${folder}/to`)).toBe('new');
      expect(await storage.exists(`${folder}/from`)).toBe(false);
      await storage.mkdir(`${folder}/sub`);
      const taken = code('ALREADY_EXISTS');
      await expect(storage.rename(`${folder}/to`, `${folder}/sub`)).rejects.toEqual(taken);
      await expect(storage.rename(`${folder}/sub`, `${folder}/to`)).rejects.toEqual(taken);
      expect(await storage.read(`${folder}/to`)).toBe('new');
    });

    it('Storage.rename to itself changes nothing, and into itself fails', async () => {
      const folder = fresh();
      await storage.write(`${folder}/a/file`, 'x');
      await storage.rename(`${folder}/a/file`, `${folder}/a/file`);
      await storage.rename(`${folder}/a`, `${folder}/a`);
      const inside = storage.rename(`${folder}/a`, `${folder}/a/b`);
      await expect(inside).rejects.toEqual(code('STORAGE_FAILED'));
      expect(await storage.read(`${folder}/a/file`)).toBe('x');
    });

    const withFiles = async () => {
      const folder = fresh();
      await storage.write(`${folder}/file`, 'old');
      await storage.write(`${folder}/sub/file`, 'deep');
      return { folder, before: await treeOf(storage, folder) };
    };

    it.each([...changes, ...nonChanges])(
      'Storage calls beforeChange once: %s',
      async (what, change) => {
        const { folder, before } = await withFiles();
        let calls = 0;
        const beforeChange = () => {
          calls += 1;
        };
        const changing = change(storage, folder, { beforeChange });
        if (changing === undefined) return;
        await changing;
        expect(calls).toBe(1);
        const isChange = changes.some(([name]) => name === what);
        const after = await treeOf(storage, folder);
        if (isChange) expect(after).not.toEqual(before);
        else expect(after).toEqual(before);
      },
    );

    it.each([...changes, ...nonChanges])(
      'Storage throws on what beforeChange throws, and nothing was changed: %s',
      async (_what, change) => {
        const { folder, before } = await withFiles();
        // The error looks like one of the operating system, but it is the caller's.
        const stop = Object.assign(new Error('stop'), { code: 'ENOENT', syscall: 'mkdir' });
        const beforeChange = () => {
          throw stop;
        };
        const outcome = await change(storage, folder, { beforeChange })?.catch((error) => error);
        if (outcome === undefined && storage.append === undefined) return;
        expect(outcome).toBe(stop);
        expect(await treeOf(storage, folder)).toEqual(before);
      },
    );

    it('Storage does not call beforeChange for what fails before any change', async () => {
      const { folder } = await withFiles();
      let calls = 0;
      const beforeChange = () => {
        calls += 1;
      };
      const failing = [
        storage.write('', 'x', { beforeChange }),
        storage.write(`${folder}/sub`, 'x', { beforeChange }),
        storage.write(`${folder}/file/child`, 'x', { beforeChange }),
        ...appends(storage, '', { beforeChange }),
        ...appends(storage, `${folder}/sub`, { beforeChange }),
        ...appends(storage, `${folder}/file/child`, { beforeChange }),
        storage.mkdir(`${folder}/file`, { beforeChange }),
        storage.mkdir(`${folder}/file/child`, { beforeChange }),
        storage.remove(`${folder}/sub`, { beforeChange }),
        storage.rename(`${folder}/none`, `${folder}/a/b`, { beforeChange }),
        storage.rename(`${folder}/file`, `${folder}/sub`, { beforeChange }),
        storage.rename(`${folder}/sub`, `${folder}/file`, { beforeChange }),
      ];
      for (const outcome of await Promise.allSettled(failing)) {
        expect(outcome.status).toBe('rejected');
      }
      expect(calls).toBe(0);
    });

    it('Storage.contained calls beforeChange for what is within reach, and for no denial', async () => {
      const { folder } = await withFiles();
      const view = storage.contained?.({
        read: [`${folder}/sub`],
        write: [`${folder}/sub`, `${folder}/drop`],
        deny: [`${folder}/sub/denied/deep`],
      });
      if (view === undefined) return;
      await storage.write(`${folder}/drop/file`, 'x');
      let calls = 0;
      const beforeChange = () => {
        calls += 1;
      };
      const inside = `${folder}/sub/file`;
      await view.write(inside, 'x', { beforeChange });
      expect(calls).toBe(1);
      const before = await treeOf(storage, folder);
      for (const path of [folder, `${folder}/a/b`, `${folder}/sub/denied/deep/x`]) {
        const denied = [
          view.write(path, 'x', { beforeChange }),
          ...appends(view, path, { beforeChange }),
          view.mkdir(path, { beforeChange }),
          view.remove(path, { beforeChange, recursive: true }),
          view.rename(path, `${folder}/sub/x`, { beforeChange }),
          view.rename(inside, path, { beforeChange }),
          view.remove(`${folder}/sub`, { beforeChange, recursive: true }),
          view.rename(`${folder}/drop/file`, `${folder}/sub/a/shown`, { beforeChange }),
        ];
        for (const outcome of await Promise.allSettled(denied)) {
          expect(outcome).toMatchObject({ reason: { code: 'PATH_NOT_REACHABLE' } });
        }
      }
      expect(calls).toBe(1);
      expect(await treeOf(storage, folder)).toEqual(before);
    });

    it('Storage.contained holds every method to the reach, where it is offered', async () => {
      if (storage.contained === undefined) return;
      const folder = fresh();
      const outside = `${folder}/outside/file`;
      const denied = `${folder}/in/denied/file`;
      await storage.write(`${folder}/in/file`, 'x');
      await storage.write(outside, 'secret');
      await storage.write(denied, 'secret');
      const reach = { read: [`${folder}/in`], write: [`${folder}/in`] };
      const view = storage.contained({ ...reach, deny: [`${folder}/in/denied`] });
      expect(await view.read(`${folder}/in/file`)).toBe('x');
      await view.write(`${folder}/in/other`, 'y');
      expect(await storage.read(`${folder}/in/other`)).toBe('y');
      for (const path of [outside, denied, `${folder}/in/../outside/file`, `${folder}/input`]) {
        const calls = [
          view.read(path),
          view.readBytes(path),
          view.write(path, 'x'),
          ...appends(view, path),
          view.exists(path),
          view.list(path),
          view.listEntries(path),
          view.mtime(path),
          view.mkdir(path),
          view.remove(path, { recursive: true }),
          view.rename(path, `${folder}/in/stolen`),
          view.rename(`${folder}/in/file`, path),
        ];
        for (const outcome of await Promise.allSettled(calls)) {
          expect(outcome).toMatchObject({
            status: 'rejected',
            reason: { code: 'PATH_NOT_REACHABLE', name: 'BoundaryError' },
          });
        }
      }
      const boundary = code('PATH_NOT_REACHABLE');
      const root = view.remove(`${folder}/in`, { recursive: true });
      await expect(root).rejects.toEqual(boundary);
      const moved = view.rename(`${folder}/in`, `${folder}/in/x`);
      await expect(moved).rejects.toEqual(boundary);
      expect(await storage.read(outside)).toBe('secret');
      expect(await storage.read(denied)).toBe('secret');
      expect(await storage.exists(`${folder}/input`)).toBe(false);
    });

    it('Storage.contained of a view only narrows', async () => {
      const folder = fresh();
      await storage.write(`${folder}/a/b/file`, 'x');
      await storage.write(`${folder}/a/file`, 'x');
      const outer = storage.contained?.({ read: [`${folder}/a/b`], write: [] });
      const inner = outer?.contained?.({ read: [folder], write: [folder] });
      if (inner === undefined) return;
      expect(await inner.read(`${folder}/a/b/file`)).toBe('x');
      const boundary = code('PATH_NOT_REACHABLE');
      await expect(inner.read(`${folder}/a/file`)).rejects.toEqual(boundary);
      await expect(inner.write(`${folder}/a/b/file`, 'y')).rejects.toEqual(boundary);
    });
  });
}
