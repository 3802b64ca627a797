import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { Storage } from '@ethosagent/types';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FsStorage } from './fs-storage.js';

const boundary = expect.objectContaining({ code: 'PATH_NOT_REACHABLE', name: 'BoundaryError' });

let base: string;
let inside: string;
let outside: string;
let home: string;
let view: Storage;

/** The attacks start from `inside`, which may be read and written, and try for `outside`. */
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'contained-')));
  inside = join(base, 'data');
  outside = join(base, 'database');
  home = join(base, 'home');
  for (const folder of [inside, join(inside, 'sub'), outside, join(outside, 'dir')]) {
    mkdirSync(folder);
  }
  mkdirSync(join(home, '.ssh'), { recursive: true });
  writeFileSync(join(home, '.ssh', 'id'), 'PRIVATE');
  writeFileSync(join(inside, 'file'), 'hello');
  writeFileSync(join(inside, 'sub', 'file'), 'deep');
  writeFileSync(join(outside, 'secret'), 'SECRET');
  writeFileSync(join(outside, 'dir', 'secret'), 'SECRET');
  view = new FsStorage({ home }).contained({ read: [inside], write: [inside] });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Everything below a folder, as text: to show that nothing was touched. */
function snapshot(folder: string): string {
  return execFileSync('find', [folder, '-printf', '%P %y %l %s %m %T@\n'], { encoding: 'utf8' });
}

function readingCalls(storage: Storage, path: string): Record<string, () => Promise<unknown>> {
  return {
    read: () => storage.read(path),
    readBytes: () => storage.readBytes(path),
    exists: () => storage.exists(path),
    list: () => storage.list(path),
    listEntries: () => storage.listEntries(path),
    mtime: () => storage.mtime(path),
  };
}

/** Every method, with the path as each of its arguments. */
function everyCall(storage: Storage, path: string): Record<string, () => Promise<unknown>> {
  return {
    ...readingCalls(storage, path),
    write: () => storage.write(path, 'pwned'),
    mkdir: () => storage.mkdir(path),
    remove: () => storage.remove(path),
    removeRecursive: () => storage.remove(path, { recursive: true }),
    renameFrom: () => storage.rename(path, join(inside, 'stolen')),
    renameTo: () => storage.rename(join(inside, 'file'), path),
  };
}

/** These follow a link as the last segment; the others take the link itself. */
const FOLLOWING = new Set([
  'read',
  'readBytes',
  'exists',
  'list',
  'listEntries',
  'mtime',
  'write',
  'mkdir',
]);

describe('FsStorage.contained, for a path whose text is outside', () => {
  it.each([
    ['a sibling with the same prefix', () => join(outside, 'secret')],
    ['the sibling itself', () => outside],
    ['the parent of the root', () => base],
    ['..', () => `${inside}/../database/secret`],
    ['.. and doubled separators', () => `${inside}//sub/..//..//database/secret`],
    ['a relative path', () => relative(process.cwd(), join(outside, 'secret'))],
    ['the root in upper case', () => inside.toUpperCase()],
    ['a home directory', () => '~/x'],
  ])('denies every method for %s', async (_name, pathOf) => {
    const before = snapshot(base);
    for (const [method, call] of Object.entries(everyCall(view, pathOf()))) {
      await expect(call(), method).rejects.toEqual(boundary);
    }
    expect(snapshot(base)).toBe(before);
  });
});

describe('FsStorage.contained, for the machine outside', () => {
  it.each(['/', '/etc/passwd', '/proc/self/environ'])('denies to read %s', async (path) => {
    for (const [method, call] of Object.entries(readingCalls(view, path))) {
      await expect(call(), method).rejects.toEqual(boundary);
    }
  });
});

describe('FsStorage.contained, for a link to the machine outside', () => {
  it.each([
    ['/proc/self/environ', ''],
    ['/proc/self/cwd', '/package.json'],
    ['/', '/etc/passwd'],
    ['/dev/zero', ''],
    ['/dev/fd/0', ''],
  ])('denies to read through a link to %s%s', async (target, rest) => {
    symlinkSync(target, join(inside, 'link'));
    const descriptors = openDescriptors();
    for (const [method, call] of Object.entries(readingCalls(view, `${inside}/link${rest}`))) {
      await expect(call(), method).rejects.toEqual(boundary);
    }
    expect(openDescriptors()).toBe(descriptors);
  });
});

describe('FsStorage.contained, for a link that leaves the reach', () => {
  const links: [string, string, () => string][] = [
    ['an absolute link to a file', 'link', () => join(outside, 'secret')],
    ['a relative link to a file', 'link', () => '../database/secret'],
    ['a link to a folder', 'link', () => outside],
    ['a link through a parent', 'link/secret', () => outside],
    ['a link through a parent, deeper', 'link/dir/secret', () => '../database'],
    ['a link through a parent, to nothing', 'link/none/deeper', () => outside],
    ['a link to the parent of the root', 'link/database/secret', () => '..'],
    ['a link to the folder above', 'link/database/secret', () => base],
    ['a dangling link', 'link', () => join(outside, 'none')],
    ['a dangling link through a parent', 'link/none', () => join(outside, 'none')],
    ['a link whose .. comes after another link', 'link', () => 'hop/../secret'],
    ['a loop', 'link', () => 'link'],
    ['a loop of two, through a parent', 'link/x', () => 'back'],
    ['a link to /proc/self/root', 'link/secret', () => `/proc/self/root${outside}`],
  ];
  it.each(links)('denies what follows %s, %s', async (_name, asked, target) => {
    symlinkSync(target(), join(inside, 'link'));
    symlinkSync(join(outside, 'dir'), join(inside, 'hop'));
    symlinkSync('link', join(inside, 'back'));
    const before = snapshot(outside);
    const descriptors = openDescriptors();
    const isLeaf = !asked.includes('/');
    for (const [method, call] of Object.entries(everyCall(view, join(inside, asked)))) {
      if (isLeaf && !FOLLOWING.has(method)) continue;
      await expect(call(), method).rejects.toEqual(boundary);
    }
    expect(snapshot(outside)).toBe(before);
    expect(openDescriptors()).toBe(descriptors);
    expect(readFileSync(join(inside, 'file'), 'utf8')).toBe('hello');
  });

  it('removes and renames the link itself, not what it leads to', async () => {
    const link = join(inside, 'link');
    symlinkSync(outside, link);
    await view.rename(link, join(inside, 'moved'));
    expect(lstatSync(join(inside, 'moved')).isSymbolicLink()).toBe(true);
    await view.remove(join(inside, 'moved'), { recursive: true });
    expect(existsSync(join(inside, 'moved'))).toBe(false);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('SECRET');
  });

  it('replaces the link itself when a file is renamed onto it', async () => {
    symlinkSync(join(outside, 'secret'), join(inside, 'link'));
    await view.rename(join(inside, 'file'), join(inside, 'link'));
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('SECRET');
    expect(readFileSync(join(inside, 'link'), 'utf8')).toBe('hello');
  });

  it('takes link/../x as its text, whatever the kernel makes of it', async () => {
    symlinkSync(join(outside, 'dir'), join(inside, 'link'));
    const path = `${inside}/link/../secret`;
    expect(await view.read(path)).toBeNull();
    await view.write(path, 'mine');
    expect(readFileSync(join(inside, 'secret'), 'utf8')).toBe('mine');
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('SECRET');
  });

  it('does not say whether there is something behind the link', async () => {
    symlinkSync(join(outside, 'secret'), join(inside, 'there'));
    symlinkSync(join(outside, 'none'), join(inside, 'not'));
    const asked = (name: string) => join(inside, name);
    const messages = await Promise.all(
      ['there', 'not'].map((name) =>
        view.read(asked(name)).catch((error: Error) => error.message.replace(asked(name), '')),
      ),
    );
    expect(messages[0]).toBe(messages[1]);
    expect(messages[0]).not.toContain(outside);
  });

  it('recursive remove takes links in the tree and leaves what they lead to', async () => {
    symlinkSync(outside, join(inside, 'sub', 'link'));
    symlinkSync(join(outside, 'secret'), join(inside, 'sub', 'leaf'));
    await view.remove(join(inside, 'sub'), { recursive: true });
    expect(existsSync(join(inside, 'sub'))).toBe(false);
    expect(readdirSync(outside).sort()).toEqual(['dir', 'secret']);
  });

  it('listEntries calls a link a folder only when it leads to one within the reach', async () => {
    symlinkSync('sub', join(inside, 'a-link'));
    symlinkSync(outside, join(inside, 'b-link'));
    expect(await view.listEntries(inside)).toEqual([
      { name: 'a-link', isDir: true },
      { name: 'b-link', isDir: false },
      { name: 'file', isDir: false },
      { name: 'sub', isDir: true },
    ]);
  });
});

describe('FsStorage.contained, for honest links', () => {
  it('follows a link that stays within the reach, also for writes', async () => {
    symlinkSync('sub/file', join(inside, 'link'));
    symlinkSync(join(inside, 'sub'), join(inside, 'folder'));
    symlinkSync('sub/new', join(inside, 'dangling'));
    expect(await view.read(join(inside, 'link'))).toBe('deep');
    await view.write(join(inside, 'link'), 'changed');
    await view.write(join(inside, 'folder', 'x', 'y'), 'made');
    await view.write(join(inside, 'dangling'), 'new');
    expect(lstatSync(join(inside, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(inside, 'sub', 'file'), 'utf8')).toBe('changed');
    expect(readFileSync(join(inside, 'sub', 'x', 'y'), 'utf8')).toBe('made');
    expect(readFileSync(join(inside, 'sub', 'new'), 'utf8')).toBe('new');
    expect(await view.list(join(inside, 'folder'))).toEqual(['file', 'new', 'x']);
    expect(await view.exists(join(inside, 'folder', 'file'))).toBe(true);
  });

  it('follows a root that is a link, and its parents', async () => {
    symlinkSync(base, join(base, 'alias'));
    symlinkSync(inside, join(base, 'root'));
    for (const root of [join(base, 'root'), join(base, 'alias', 'data')]) {
      const linked = new FsStorage({ home }).contained({ read: [root], write: [root] });
      expect(await linked.read(join(root, 'file'))).toBe('hello');
      await linked.write(join(root, 'made'), 'x');
      expect(await linked.list(root)).toContain('made');
      await expect(linked.read(join(inside, 'file'))).rejects.toEqual(boundary);
    }
  });

  it('works for a root that is made later, removed and made again', async () => {
    const root = join(base, 'later', 'root');
    const late = new FsStorage({ home }).contained({ read: [root], write: [root] });
    expect(await late.read(join(root, 'x'))).toBeNull();
    expect(await late.list(root)).toEqual([]);
    await late.write(join(root, 'x'), '1');
    rmSync(join(base, 'later'), { recursive: true });
    await late.write(join(root, 'x'), '2');
    expect(await late.read(join(root, 'x'))).toBe('2');
    await late.mkdir(root);
  });

  it('a root that becomes a link leads a view nowhere new', async () => {
    rmSync(inside, { recursive: true });
    symlinkSync(outside, inside);
    await expect(view.read(join(inside, 'secret'))).rejects.toEqual(boundary);
    await expect(view.write(join(inside, 'new'), 'x')).rejects.toEqual(boundary);
  });

  it('a view of a view refuses a root that leads out of the first', async () => {
    symlinkSync(outside, join(inside, 'planted'));
    const planted = join(inside, 'planted');
    const narrow = view.contained?.({ read: [planted], write: [planted] });
    await expect(narrow?.read(join(planted, 'secret'))).rejects.toEqual(boundary);
    await expect(narrow?.write(join(planted, 'x'), 'x')).rejects.toEqual(boundary);
    expect(existsSync(join(outside, 'x'))).toBe(false);
  });

  it('takes a single file as a root', async () => {
    const file = join(inside, 'file');
    const single = new FsStorage({ home }).contained({ read: [file], write: [file] });
    expect(await single.read(file)).toBe('hello');
    await single.write(file, 'new');
    expect(readFileSync(file, 'utf8')).toBe('new');
    await expect(single.write(join(inside, 'other'), 'x')).rejects.toEqual(boundary);
    await expect(single.list(inside)).rejects.toEqual(boundary);
    await single.remove(file);
    expect(readdirSync(inside)).toEqual(['sub']);
  });

  it('reads a file that is replaced all the time', async () => {
    const path = join(inside, 'file');
    const single = new FsStorage({ home }).contained({ read: [path], write: [path] });
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        await single.write(path, 'hello');
        expect(await single.read(path)).toBe('hello');
      }),
    );
  });
});

describe('FsStorage.contained, for the deny floor', () => {
  // The reach for writing never includes the machine itself: a hole must not do damage.
  const wide = () => new FsStorage({ home }).contained({ read: ['/'], write: [base] });

  it.each([
    '/proc/self/environ',
    '/proc/self/root/etc/hosts',
    '/proc/self/cwd/package.json',
    '/proc/thread-self/environ',
    `/proc/${process.pid}/maps`,
    '/proc/self/fd/0',
    '/proc/sys/kernel/hostname',
    '/dev/fd/3',
    '/dev/mem',
    '/dev/zero',
    '/dev/stdin',
    '/dev/../dev/zero',
    '/sys/kernel/uevent_seqnum',
    '/etc/shadow',
    '/etc/sudoers',
  ])('denies to read %s with the reach /', async (path) => {
    // Only reads: these are the machine's own, and a test that fails must not take them along.
    for (const [method, call] of Object.entries(readingCalls(wide(), path))) {
      await expect(call(), method).rejects.toEqual(boundary);
    }
  });

  it.each(['', 'sub', 'sub/etc'])(
    'denies to remove or rename %j, above a denied path',
    async (at) => {
      const outer = join(inside, 'outer');
      const denied = join(outer, 'sub', 'etc', 'shadow');
      mkdirSync(dirname(denied), { recursive: true });
      writeFileSync(denied, 'secret');
      const storage = new FsStorage().contained({
        read: [inside],
        write: [inside],
        deny: [denied],
      });
      const path = join(outer, at);
      await expect(storage.remove(path, { recursive: true })).rejects.toEqual(boundary);
      await expect(storage.rename(path, join(inside, 'x'))).rejects.toEqual(boundary);
      await expect(storage.rename(join(inside, 'sub'), path)).rejects.toEqual(boundary);
      expect(readFileSync(denied, 'utf8')).toBe('secret');
    },
  );

  it('reads /dev/null as empty', async () => {
    expect(await wide().read('/dev/null')).toBe('');
  });

  it('denies credentials below the home directory, by name and by link', async () => {
    symlinkSync(join(home, '.ssh'), join(inside, 'link'));
    const storage = wide();
    for (const path of [join(home, '.ssh'), join(home, '.ssh', 'id'), join(inside, 'link', 'id')]) {
      await expect(storage.read(path)).rejects.toEqual(boundary);
      await expect(storage.write(path, 'x')).rejects.toEqual(boundary);
      await expect(storage.exists(path)).rejects.toEqual(boundary);
    }
    await storage.write(join(home, 'notes'), 'x');
    expect(await storage.read(join(home, 'notes'))).toBe('x');
  });

  it('denies a denied place by its real path when the place itself is a link', async () => {
    const keys = join(base, 'keys');
    renameSync(join(home, '.ssh'), keys);
    symlinkSync(keys, join(home, '.ssh'));
    await expect(wide().read(join(keys, 'id'))).rejects.toEqual(boundary);
    await expect(wide().write(join(keys, 'id'), 'x')).rejects.toEqual(boundary);
  });

  it('denies to make a denied place that does not exist', async () => {
    const storage = wide();
    for (const path of ['.aws/credentials', '.netrc', '.config/gcloud/x']) {
      await expect(storage.write(join(home, path), 'x')).rejects.toEqual(boundary);
      await expect(storage.mkdir(join(home, path))).rejects.toEqual(boundary);
      await expect(storage.rename(join(inside, 'file'), join(home, path))).rejects.toEqual(
        boundary,
      );
    }
    expect(readdirSync(home)).toEqual(['.ssh']);
  });

  it('denies a hard link to a file below a denied folder, and to a denied file', async () => {
    const listed = join(outside, 'secret');
    const storage = new FsStorage({ home }).contained({
      read: [inside],
      write: [inside],
      deny: [listed],
    });
    expect(await storage.read(join(inside, 'file'))).toBe('hello');
    linkSync(join(home, '.ssh', 'id'), join(inside, 'hard'));
    linkSync(listed, join(inside, 'hard2'));
    linkSync(join(inside, 'file'), join(inside, 'honest'));
    for (const path of [join(inside, 'hard'), join(inside, 'hard2')]) {
      for (const [method, call] of Object.entries(everyCall(storage, path))) {
        if (method.startsWith('list') || method === 'mkdir') continue;
        await expect(call(), method).rejects.toEqual(boundary);
      }
    }
    expect(await storage.read(join(inside, 'honest'))).toBe('hello');
    expect(readFileSync(listed, 'utf8')).toBe('SECRET');
  });

  it('denies a hard link that is made after the file was looked at', async () => {
    writeFileSync(join(inside, 'a'), 'x');
    linkSync(join(inside, 'a'), join(inside, 'b'));
    expect(await view.read(join(inside, 'a'))).toBe('x');
    writeFileSync(join(home, '.netrc'), 'password');
    linkSync(join(home, '.netrc'), join(inside, 'hard'));
    await expect(view.read(join(inside, 'hard'))).rejects.toEqual(boundary);
  });

  it('denies to remove or rename an ancestor of a denied path, and roots of the reach', async () => {
    const denied = join(inside, 'sub', 'deep', 'denied');
    mkdirSync(denied, { recursive: true });
    const root = join(inside, 'root');
    mkdirSync(root);
    const storage = new FsStorage({ home }).contained({
      read: [inside, root],
      write: [inside],
      deny: [denied],
    });
    const nested = storage.contained?.({ read: [root], write: [inside] });
    for (const path of [inside, join(inside, 'sub'), join(inside, 'sub', 'deep'), denied]) {
      await expect(storage.remove(path, { recursive: true })).rejects.toEqual(boundary);
      await expect(storage.rename(path, join(inside, 'x'))).rejects.toEqual(boundary);
    }
    await expect(nested?.remove(root, { recursive: true })).rejects.toEqual(boundary);
    await expect(nested?.rename(root, join(inside, 'x'))).rejects.toEqual(boundary);
    expect(existsSync(denied)).toBe(true);
    rmSync(join(inside, 'sub'), { recursive: true });
    const put = storage.rename(root, join(inside, 'sub'));
    await expect(put).rejects.toEqual(boundary);
  });

  it('denies to put a link in the place of a root', async () => {
    const root = join(inside, 'file');
    symlinkSync(join(outside, 'secret'), join(inside, 'sub', 'link'));
    const storage = new FsStorage({ home }).contained({
      read: [root],
      write: [root, join(inside, 'sub')],
    });
    const put = storage.rename(join(inside, 'sub', 'link'), root);
    await expect(put).rejects.toEqual(boundary);
  });

  it('denies a move that would make readable what is not', async () => {
    const storage = new FsStorage({ home }).contained({ read: [inside], write: [inside, outside] });
    const move = storage.rename(join(outside, 'secret'), join(inside, 'stolen'));
    await expect(move).rejects.toEqual(boundary);
    await storage.rename(join(inside, 'file'), join(outside, 'file'));
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('hello');
  });
});

describe('FsStorage.contained, for what is not a plain file', () => {
  const notAFile = expect.objectContaining({ code: 'NOT_A_FILE' });

  it('refuses a FIFO, a socket and a folder at once', async () => {
    const fifo = join(inside, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const server = createServer();
    const socket = join(inside, 'socket');
    await new Promise<void>((done) => server.listen(socket, done));
    try {
      for (const path of [fifo, socket, join(inside, 'sub')]) {
        await expect(view.read(path)).rejects.toEqual(notAFile);
        await expect(view.readBytes(path)).rejects.toEqual(notAFile);
        await expect(view.write(path, 'x')).rejects.toEqual(notAFile);
        expect(await view.exists(path)).toBe(true);
      }
    } finally {
      server.close();
    }
  });

  it('refuses a FIFO outside by the boundary, not by its kind', async () => {
    execFileSync('mkfifo', [join(outside, 'fifo')]);
    symlinkSync(join(outside, 'fifo'), join(inside, 'link'));
    await expect(view.read(join(inside, 'link'))).rejects.toEqual(boundary);
  });

  it('refuses a sparse file of 1 TB, and one byte above the cap', async () => {
    const path = join(inside, 'huge');
    const tooLarge = expect.objectContaining({ code: 'FILE_TOO_LARGE' });
    writeFileSync(path, '');
    truncateSync(path, 2 ** 40);
    await expect(view.read(path)).rejects.toEqual(tooLarge);
    await expect(view.readBytes(path)).rejects.toEqual(tooLarge);
    const capped = new FsStorage({ home, maxReadBytes: 5 }).contained({
      read: [inside],
      write: [],
    });
    expect(await capped.read(join(inside, 'file'))).toBe('hello');
    writeFileSync(join(inside, 'file'), 'hello!');
    await expect(capped.read(join(inside, 'file'))).rejects.toEqual(tooLarge);
  });
});

describe('FsStorage.contained', () => {
  it('leaves no descriptor behind, whether calls succeed or fail', async () => {
    symlinkSync(outside, join(inside, 'link'));
    symlinkSync('loop', join(inside, 'loop'));
    execFileSync('mkfifo', [join(inside, 'fifo')]);
    writeFileSync(join(inside, 'large'), Buffer.alloc(300_000));
    const paths = ['file', 'none', 'none/none', 'sub', 'link', 'link/x', 'loop', 'fifo', 'large'];
    const before = openDescriptors();
    for (let round = 0; round < 3; round += 1) {
      for (const path of [...paths.map((name) => join(inside, name)), outside, base, '']) {
        const calls = Object.values(everyCall(view, path)).map((call) => call());
        await Promise.allSettled(calls);
      }
    }
    expect(openDescriptors()).toBe(before);
  });

  it('read and write never leave the reach, for any path made of tricky segments', async () => {
    symlinkSync(outside, join(inside, 'out'));
    symlinkSync('..', join(inside, 'up'));
    symlinkSync('sub', join(inside, 'in'));
    symlinkSync(base, join(inside, 'sub', 'top'));
    const before = snapshot(outside);
    const segments = ['..', '.', '', 'out', 'up', 'in', 'sub', 'top', 'file', 'secret', 'database'];
    const tricky = fc.array(fc.constantFrom(...segments), { maxLength: 7 });
    await fc.assert(
      fc.asyncProperty(tricky, async (parts) => {
        const path = `${inside}/${parts.join('/')}`;
        const read = await view.read(path).catch(() => null);
        expect(read).not.toBe('SECRET');
        await view.write(path, 'hello').catch(() => undefined);
      }),
      { numRuns: 300 },
    );
    expect(snapshot(outside)).toBe(before);
    expect(readdirSync(base).sort()).toEqual(['data', 'database', 'home']);
  });

  it('names the path asked for and nothing behind it in a denial', async () => {
    symlinkSync(join(outside, 'secret'), join(inside, 'link'));
    const asked = join(inside, 'link');
    await expect(view.read(asked)).rejects.toMatchObject({
      message: `PATH_NOT_REACHABLE: read not permitted for ${asked}`,
      kind: 'read',
      path: asked,
      rule: 'a link leaves the reach',
    });
  });
});
