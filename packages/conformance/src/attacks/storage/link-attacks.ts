import {
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { countTries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import {
  append,
  boundary,
  everyCall,
  expectDenied,
  openDescriptors,
  readingCalls,
  type StorageWorld,
  snapshot,
} from './storage-world.js';

/** These methods follow a link as the last segment. The others work on the link itself. */
const FOLLOWING = new Set([
  'read',
  'readBytes',
  'exists',
  'list',
  'listEntries',
  'mtime',
  'write',
  'append',
  'mkdir',
]);

/** Attacks with paths and links that lead out of the reach, and do not change during the call. */
export function linkAttacks(w: StorageWorld): void {
  describe('for a path whose text is outside', () => {
    it.for<[string, () => string]>([
      ['a sibling with the same prefix', () => join(w.outside, 'secret')],
      ['the sibling itself', () => w.outside],
      ['the parent of the root', () => w.base],
      ['..', () => `${w.inside}/../database/secret`],
      ['.. and doubled separators', () => `${w.inside}//sub/..//..//database/secret`],
      ['a relative path', () => relative(process.cwd(), join(w.outside, 'secret'))],
      ['the root in upper case', () => w.inside.toUpperCase()],
      ['a home directory', () => `~/${basename(w.base)}`],
    ])('denies every method for %s', async ([, pathOf], context) => {
      const before = snapshot(w.base);
      await expectDenied(context, everyCall(w.view, pathOf(), w.inside));
      expect(snapshot(w.base)).toBe(before);
    });
  });

  describe('for the machine outside', () => {
    it.for(['/', '/etc/passwd', '/proc/self/environ'])(
      'denies to read %s',
      async (path, context) => {
        await expectDenied(context, readingCalls(w.view, path));
      },
    );
  });

  describe('for a link to the machine outside', () => {
    it.for<[string, string]>([
      ['/proc/self/environ', ''],
      ['/proc/self/cwd', '/package.json'],
      ['/', '/etc/passwd'],
      ['/dev/zero', ''],
      ['/dev/fd/0', ''],
    ])('denies to read through a link to %s%s', async ([target, rest], context) => {
      symlinkSync(target, join(w.inside, 'link'));
      const descriptors = openDescriptors();
      await expectDenied(context, readingCalls(w.view, `${w.inside}/link${rest}`));
      expect(openDescriptors()).toBe(descriptors);
    });
  });

  describe('for a link that leaves the reach', () => {
    const links: [string, string, () => string][] = [
      ['an absolute link to a file', 'link', () => join(w.outside, 'secret')],
      ['a relative link to a file', 'link', () => '../database/secret'],
      ['a link to a folder', 'link', () => w.outside],
      ['a link through a parent', 'link/secret', () => w.outside],
      ['a link through a parent, deeper', 'link/dir/secret', () => '../database'],
      ['a link through a parent, to nothing', 'link/none/deeper', () => w.outside],
      ['a link to the parent of the root', 'link/database/secret', () => '..'],
      ['a link to the folder above', 'link/database/secret', () => w.base],
      ['a dangling link', 'link', () => join(w.outside, 'none')],
      ['a dangling link through a parent', 'link/none', () => join(w.outside, 'none')],
      ['a link whose .. comes after another link', 'link', () => 'hop/../secret'],
      ['a loop', 'link', () => 'link'],
      ['a loop of two, through a parent', 'link/x', () => 'back'],
      ['a link to /proc/self/root', 'link/secret', () => `/proc/self/root${w.outside}`],
    ];
    it.for(links)('denies what follows %s, %s', async ([, asked, target], context) => {
      symlinkSync(target(), join(w.inside, 'link'));
      symlinkSync(join(w.outside, 'dir'), join(w.inside, 'hop'));
      symlinkSync('link', join(w.inside, 'back'));
      const before = snapshot(w.outside);
      const descriptors = openDescriptors();
      const isLeaf = !asked.includes('/');
      const calls = Object.entries(everyCall(w.view, join(w.inside, asked), w.inside));
      const following = calls.filter(([method]) => !isLeaf || FOLLOWING.has(method));
      await expectDenied(context, Object.fromEntries(following));
      expect(snapshot(w.outside)).toBe(before);
      expect(openDescriptors()).toBe(descriptors);
      expect(readFileSync(join(w.inside, 'file'), 'utf8')).toBe('hello');
    });

    it('removes and renames the link itself, not what it leads to', async () => {
      const link = join(w.inside, 'link');
      symlinkSync(w.outside, link);
      await w.view.rename(link, join(w.inside, 'moved'));
      expect(lstatSync(join(w.inside, 'moved')).isSymbolicLink()).toBe(true);
      await w.view.remove(join(w.inside, 'moved'), { recursive: true });
      expect(existsSync(join(w.inside, 'moved'))).toBe(false);
      expect(readFileSync(join(w.outside, 'secret'), 'utf8')).toBe('SECRET');
    });

    it('replaces the link itself when a file is renamed onto it', async () => {
      symlinkSync(join(w.outside, 'secret'), join(w.inside, 'link'));
      await w.view.rename(join(w.inside, 'file'), join(w.inside, 'link'));
      expect(readFileSync(join(w.outside, 'secret'), 'utf8')).toBe('SECRET');
      expect(readFileSync(join(w.inside, 'link'), 'utf8')).toBe('hello');
    });

    it('takes link/../x as its text, whatever the kernel makes of it', async () => {
      symlinkSync(join(w.outside, 'dir'), join(w.inside, 'link'));
      const path = `${w.inside}/link/../secret`;
      expect(await w.view.read(path)).toBeNull();
      await w.view.write(path, 'mine');
      expect(readFileSync(join(w.inside, 'secret'), 'utf8')).toBe('mine');
      expect(readFileSync(join(w.outside, 'secret'), 'utf8')).toBe('SECRET');
    });

    it('does not say whether there is something behind the link', async () => {
      symlinkSync(join(w.outside, 'secret'), join(w.inside, 'there'));
      symlinkSync(join(w.outside, 'none'), join(w.inside, 'not'));
      const asked = (name: string) => join(w.inside, name);
      const messages = await Promise.all(
        ['there', 'not'].map((name) =>
          w.view.read(asked(name)).catch((error: Error) => error.message.replace(asked(name), '')),
        ),
      );
      expect(messages[0]).toBe(messages[1]);
      expect(messages[0]).not.toContain(w.outside);
    });

    it('recursive remove takes links in the tree and leaves what they lead to', async () => {
      symlinkSync(w.outside, join(w.inside, 'sub', 'link'));
      symlinkSync(join(w.outside, 'secret'), join(w.inside, 'sub', 'leaf'));
      await w.view.remove(join(w.inside, 'sub'), { recursive: true });
      expect(existsSync(join(w.inside, 'sub'))).toBe(false);
      expect(readdirSync(w.outside).sort()).toEqual(['dir', 'secret']);
    });

    it('listEntries calls a link a folder only when it leads to one within the reach', async () => {
      symlinkSync('sub', join(w.inside, 'a-link'));
      symlinkSync(w.outside, join(w.inside, 'b-link'));
      expect(await w.view.listEntries(w.inside)).toEqual([
        { name: 'a-link', isDir: true },
        { name: 'b-link', isDir: false },
        { name: 'file', isDir: false },
        { name: 'sub', isDir: true },
      ]);
    });
  });

  describe('for a hard link to a file outside', () => {
    it('appends to the name within the reach, and leaves the file outside as it was', async (context) => {
      if (w.view.append === undefined) return;
      const path = join(w.inside, 'hard');
      linkSync(join(w.outside, 'secret'), path);
      const before = snapshot(w.outside);
      await w.view.append(path, 'evil');
      await w.view.append(path, ' twice');
      expect(snapshot(w.outside)).toBe(before);
      expect(readFileSync(join(w.outside, 'secret'), 'utf8')).toBe('SECRET');
      expect(readFileSync(path, 'utf8')).toBe('SECRETevil twice');
      expect(readdirSync(w.inside).sort()).toEqual(['file', 'hard', 'sub']);
      countTries(context, 'reach', 2);
    });
  });

  describe('for honest links', () => {
    it('follows a link that stays within the reach, also for writes', async () => {
      symlinkSync('sub/file', join(w.inside, 'link'));
      symlinkSync(join(w.inside, 'sub'), join(w.inside, 'folder'));
      symlinkSync('sub/new', join(w.inside, 'dangling'));
      expect(await w.view.read(join(w.inside, 'link'))).toBe('deep');
      await w.view.write(join(w.inside, 'link'), 'changed');
      await w.view.write(join(w.inside, 'folder', 'x', 'y'), 'made');
      await w.view.write(join(w.inside, 'dangling'), 'new');
      expect(lstatSync(join(w.inside, 'link')).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(w.inside, 'sub', 'file'), 'utf8')).toBe('changed');
      expect(readFileSync(join(w.inside, 'sub', 'x', 'y'), 'utf8')).toBe('made');
      expect(readFileSync(join(w.inside, 'sub', 'new'), 'utf8')).toBe('new');
      expect(await w.view.list(join(w.inside, 'folder'))).toEqual(['file', 'new', 'x']);
      expect(await w.view.exists(join(w.inside, 'folder', 'file'))).toBe(true);
    });

    it('appends through a link that stays within the reach, and makes what is not there', async () => {
      if (w.view.append === undefined) return;
      symlinkSync('sub/file', join(w.inside, 'link'));
      symlinkSync(join(w.inside, 'sub'), join(w.inside, 'folder'));
      symlinkSync('sub/new', join(w.inside, 'dangling'));
      await w.view.append(join(w.inside, 'link'), 'er');
      await w.view.append(join(w.inside, 'folder', 'x', 'y'), 'made');
      await w.view.append(join(w.inside, 'dangling'), 'new');
      expect(lstatSync(join(w.inside, 'link')).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(w.inside, 'sub', 'file'), 'utf8')).toBe('deeper');
      expect(readFileSync(join(w.inside, 'sub', 'x', 'y'), 'utf8')).toBe('made');
      expect(readFileSync(join(w.inside, 'sub', 'new'), 'utf8')).toBe('new');
    });

    it('follows a root that is a link, and its parents', async () => {
      symlinkSync(w.base, join(w.base, 'alias'));
      symlinkSync(w.inside, join(w.base, 'root'));
      for (const root of [join(w.base, 'root'), join(w.base, 'alias', 'data')]) {
        const linked = w.create({ read: [root], write: [root] });
        expect(await linked.read(join(root, 'file'))).toBe('hello');
        await linked.write(join(root, 'made'), 'x');
        expect(await linked.list(root)).toContain('made');
        await expect(linked.read(join(w.inside, 'file'))).rejects.toEqual(boundary);
      }
    });

    it('works for a root that is made later, removed and made again', async () => {
      const root = join(w.base, 'later', 'root');
      const late = w.create({ read: [root], write: [root] });
      expect(await late.read(join(root, 'x'))).toBeNull();
      expect(await late.list(root)).toEqual([]);
      await late.write(join(root, 'x'), '1');
      rmSync(join(w.base, 'later'), { recursive: true });
      await late.write(join(root, 'x'), '2');
      expect(await late.read(join(root, 'x'))).toBe('2');
      await late.mkdir(root);
    });

    it('a root that becomes a link leads a view nowhere new', async () => {
      rmSync(w.inside, { recursive: true });
      symlinkSync(w.outside, w.inside);
      await expect(w.view.read(join(w.inside, 'secret'))).rejects.toEqual(boundary);
      await expect(w.view.write(join(w.inside, 'new'), 'x')).rejects.toEqual(boundary);
      await expect(append(w.view, join(w.inside, 'secret'), 'x')).rejects.toEqual(boundary);
      expect(readFileSync(join(w.outside, 'secret'), 'utf8')).toBe('SECRET');
    });

    it('a view of a view refuses a root that leads out of the first', async () => {
      symlinkSync(w.outside, join(w.inside, 'planted'));
      const planted = join(w.inside, 'planted');
      const narrow = w.view.contained?.({ read: [planted], write: [planted] });
      await expect(narrow?.read(join(planted, 'secret'))).rejects.toEqual(boundary);
      await expect(narrow?.write(join(planted, 'x'), 'x')).rejects.toEqual(boundary);
      expect(existsSync(join(w.outside, 'x'))).toBe(false);
    });

    it('takes a single file as a root', async () => {
      const file = join(w.inside, 'file');
      const single = w.create({ read: [file], write: [file] });
      expect(await single.read(file)).toBe('hello');
      await single.write(file, 'new');
      expect(readFileSync(file, 'utf8')).toBe('new');
      await expect(single.write(join(w.inside, 'other'), 'x')).rejects.toEqual(boundary);
      await expect(append(single, join(w.inside, 'other'), 'x')).rejects.toEqual(boundary);
      await expect(single.list(w.inside)).rejects.toEqual(boundary);
      await single.remove(file);
      expect(readdirSync(w.inside)).toEqual(['sub']);
    });

    it('reads a file that is replaced all the time', async () => {
      const path = join(w.inside, 'file');
      const single = w.create({ read: [path], write: [path] });
      await Promise.all(
        Array.from({ length: 30 }, async () => {
          await single.write(path, 'hello');
          expect(await single.read(path)).toBe('hello');
        }),
      );
    });
  });
}
