import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  append,
  boundary,
  everyCall,
  expectDenied,
  readingCalls,
  type StorageWorld,
} from './storage-world.js';

/** Attacks on denied places within the reach: by name, through a link and through a hard link. */
export function denyAttacks(w: StorageWorld, seesHardLinks: boolean): void {
  describe('for the deny floor', () => {
    // Only the test's own folder may be written: a hole must not do damage to this machine.
    const wide = () => w.create({ read: ['/'], write: [w.base] });

    it.for([
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
    ])('denies to read %s with the reach /', async (path, context) => {
      // Only reads, since these are the machine's own files, and a failing test must not remove
      // them.
      await expectDenied(context, readingCalls(wide(), path));
    });

    it.each(['', 'sub', 'sub/etc'])(
      'denies to remove or rename %j, above a denied path',
      async (at) => {
        const outer = join(w.inside, 'outer');
        const denied = join(outer, 'sub', 'etc', 'shadow');
        mkdirSync(dirname(denied), { recursive: true });
        writeFileSync(denied, 'secret');
        const storage = w.create({
          read: [w.inside],
          write: [w.inside],
          deny: [denied],
        });
        const path = join(outer, at);
        await expect(storage.remove(path, { recursive: true })).rejects.toEqual(boundary);
        await expect(storage.rename(path, join(w.inside, 'x'))).rejects.toEqual(boundary);
        await expect(storage.rename(join(w.inside, 'sub'), path)).rejects.toEqual(boundary);
        expect(readFileSync(denied, 'utf8')).toBe('secret');
      },
    );

    it('reads /dev/null as empty', async () => {
      expect(await wide().read('/dev/null')).toBe('');
    });

    it('denies credentials below the home directory, by name and by link', async () => {
      symlinkSync(join(w.home, '.ssh'), join(w.inside, 'link'));
      const storage = wide();
      for (const path of [
        join(w.home, '.ssh'),
        join(w.home, '.ssh', 'id'),
        join(w.inside, 'link', 'id'),
      ]) {
        await expect(storage.read(path)).rejects.toEqual(boundary);
        await expect(storage.write(path, 'x')).rejects.toEqual(boundary);
        await expect(append(storage, path, 'x')).rejects.toEqual(boundary);
        await expect(storage.exists(path)).rejects.toEqual(boundary);
      }
      await storage.write(join(w.home, 'notes'), 'x');
      expect(await storage.read(join(w.home, 'notes'))).toBe('x');
    });

    it('denies a denied place by its real path when the place itself is a link', async () => {
      const keys = join(w.base, 'keys');
      renameSync(join(w.home, '.ssh'), keys);
      symlinkSync(keys, join(w.home, '.ssh'));
      await expect(wide().read(join(keys, 'id'))).rejects.toEqual(boundary);
      await expect(wide().write(join(keys, 'id'), 'x')).rejects.toEqual(boundary);
    });

    it('denies to make a denied place that does not exist', async () => {
      const storage = wide();
      for (const path of ['.aws/credentials', '.netrc', '.config/gcloud/x']) {
        await expect(storage.write(join(w.home, path), 'x')).rejects.toEqual(boundary);
        await expect(append(storage, join(w.home, path), 'x')).rejects.toEqual(boundary);
        await expect(storage.mkdir(join(w.home, path))).rejects.toEqual(boundary);
        await expect(storage.rename(join(w.inside, 'file'), join(w.home, path))).rejects.toEqual(
          boundary,
        );
      }
      expect(readdirSync(w.home)).toEqual(['.ssh']);
    });

    it.runIf(seesHardLinks)(
      'denies a hard link to a file below a denied folder, and to a denied file',
      async (context) => {
        const listed = join(w.outside, 'secret');
        const storage = w.create({
          read: [w.inside],
          write: [w.inside],
          deny: [listed],
        });
        expect(await storage.read(join(w.inside, 'file'))).toBe('hello');
        linkSync(join(w.home, '.ssh', 'id'), join(w.inside, 'hard'));
        linkSync(listed, join(w.inside, 'hard2'));
        linkSync(join(w.inside, 'file'), join(w.inside, 'honest'));
        for (const path of [join(w.inside, 'hard'), join(w.inside, 'hard2')]) {
          const calls = Object.entries(everyCall(storage, path, w.inside));
          const onFiles = calls.filter(([method]) => !/^(list|mkdir)/.test(method));
          await expectDenied(context, Object.fromEntries(onFiles));
        }
        expect(await storage.read(join(w.inside, 'honest'))).toBe('hello');
        expect(readFileSync(listed, 'utf8')).toBe('SECRET');
      },
    );

    it.runIf(seesHardLinks)(
      'denies a hard link that is made after the file was looked at',
      async () => {
        writeFileSync(join(w.inside, 'a'), 'x');
        linkSync(join(w.inside, 'a'), join(w.inside, 'b'));
        expect(await w.view.read(join(w.inside, 'a'))).toBe('x');
        writeFileSync(join(w.home, '.netrc'), 'password');
        linkSync(join(w.home, '.netrc'), join(w.inside, 'hard'));
        await expect(w.view.read(join(w.inside, 'hard'))).rejects.toEqual(boundary);
        await expect(append(w.view, join(w.inside, 'hard'), 'x')).rejects.toEqual(boundary);
        expect(readFileSync(join(w.home, '.netrc'), 'utf8')).toBe('password');
      },
    );

    it('denies to remove or rename an ancestor of a denied path, and roots of the reach', async () => {
      const denied = join(w.inside, 'sub', 'deep', 'denied');
      mkdirSync(denied, { recursive: true });
      const root = join(w.inside, 'root');
      mkdirSync(root);
      const storage = w.create({
        read: [w.inside, root],
        write: [w.inside],
        deny: [denied],
      });
      const nested = storage.contained?.({ read: [root], write: [w.inside] });
      for (const path of [w.inside, join(w.inside, 'sub'), join(w.inside, 'sub', 'deep'), denied]) {
        await expect(storage.remove(path, { recursive: true })).rejects.toEqual(boundary);
        await expect(storage.rename(path, join(w.inside, 'x'))).rejects.toEqual(boundary);
      }
      await expect(nested?.remove(root, { recursive: true })).rejects.toEqual(boundary);
      await expect(nested?.rename(root, join(w.inside, 'x'))).rejects.toEqual(boundary);
      expect(existsSync(denied)).toBe(true);
      rmSync(join(w.inside, 'sub'), { recursive: true });
      const put = storage.rename(root, join(w.inside, 'sub'));
      await expect(put).rejects.toEqual(boundary);
    });

    it('denies to replace a root by a link', async () => {
      const root = join(w.inside, 'file');
      symlinkSync(join(w.outside, 'secret'), join(w.inside, 'sub', 'link'));
      const storage = w.create({
        read: [root],
        write: [root, join(w.inside, 'sub')],
      });
      const put = storage.rename(join(w.inside, 'sub', 'link'), root);
      await expect(put).rejects.toEqual(boundary);
    });

    it('denies a move that would make readable what is not', async () => {
      const storage = w.create({ read: [w.inside], write: [w.inside, w.outside] });
      const move = storage.rename(join(w.outside, 'secret'), join(w.inside, 'stolen'));
      await expect(move).rejects.toEqual(boundary);
      await storage.rename(join(w.inside, 'file'), join(w.outside, 'file'));
      expect(readFileSync(join(w.outside, 'file'), 'utf8')).toBe('hello');
    });
  });
}
