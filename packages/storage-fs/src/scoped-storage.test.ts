import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BoundaryError } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FsStorage } from './fs-storage.js';
import { InMemoryStorage } from './in-memory-storage.js';
import { ScopedStorage } from './scoped-storage.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'scoped-storage-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('ScopedStorage', () => {
  it('tells reading from writing', async () => {
    const inner = new InMemoryStorage();
    await inner.write('/read/file', 'x');
    const storage = new ScopedStorage(inner, { read: ['/read'], write: ['/write'] });
    expect(await storage.read('/read/file')).toBe('x');
    await storage.write('/write/file', 'y');
    await expect(storage.write('/read/file', 'y')).rejects.toBeInstanceOf(BoundaryError);
    await expect(storage.read('/write/file')).rejects.toBeInstanceOf(BoundaryError);
    await expect(storage.exists('/write/file')).rejects.toMatchObject({ kind: 'read' });
    await expect(storage.mkdir('/read/x')).rejects.toMatchObject({ kind: 'write' });
  });

  it.each([
    join(homedir(), '.ssh', 'id_ed25519'),
    join(homedir(), '.aws', 'credentials'),
    '/etc/shadow',
    '/proc/self/environ',
    '/srv/private/x',
  ])('denies %s with the reach /, on disk and in memory', async (path) => {
    const reach = { read: ['/'], write: ['/'], deny: ['/srv/private'] };
    // On the disk these are the user's own files, so they are never written.
    const onDisk = new ScopedStorage(new FsStorage(), { ...reach, write: [] });
    await expect(onDisk.read(path)).rejects.toMatchObject({ rule: 'deny floor' });
    const inMemory = new ScopedStorage(new InMemoryStorage(), reach);
    await expect(inMemory.read(path)).rejects.toMatchObject({ rule: 'deny floor' });
    await expect(inMemory.write(path, 'x')).rejects.toMatchObject({ rule: 'deny floor' });
  });

  it('refuses a link that leaves the reach when the inner storage can tell', async () => {
    const root = join(dir, 'root');
    mkdirSync(root);
    writeFileSync(join(dir, 'secret'), 'SECRET');
    symlinkSync('../secret', join(root, 'link'));
    const storage = new ScopedStorage(new FsStorage(), { read: [root], write: [root] });
    await expect(storage.read(join(root, 'link'))).rejects.toBeInstanceOf(BoundaryError);
    const narrow = storage.contained({ read: [join(root, 'link')], write: [] });
    await expect(narrow.read(join(root, 'link'))).rejects.toBeInstanceOf(BoundaryError);
  });

  it('denies what would move a root or an ancestor of a denied path, in memory too', async () => {
    const inner = new InMemoryStorage();
    await inner.write('/data/a/denied/file', 'x');
    await inner.write('/drop/file', 'x');
    const reach = { read: ['/data'], write: ['/data', '/drop'], deny: ['/data/a/denied'] };
    const storage = new ScopedStorage(inner, reach);
    for (const path of ['/data', '/data/a']) {
      await expect(storage.remove(path, { recursive: true })).rejects.toThrow(BoundaryError);
      await expect(storage.rename(path, '/data/x')).rejects.toThrow(BoundaryError);
    }
    await expect(storage.rename('/drop/file', '/data/file')).rejects.toThrow(BoundaryError);
    expect(await inner.exists('/data/a/denied/file')).toBe(true);
  });
});
