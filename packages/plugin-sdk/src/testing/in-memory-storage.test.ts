import { storageConformance } from '@ethosagent/conformance';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from './fake-clock.js';
import { createInMemoryStorage } from './in-memory-storage.js';

storageConformance('createInMemoryStorage', () => ({
  storage: createInMemoryStorage(),
  root: '/root/x',
}));

describe('createInMemoryStorage', () => {
  it('reads text and bytes, and null for what is not there', async () => {
    const storage = createInMemoryStorage({ '/a.txt': 'ä', '/b.bin': Uint8Array.of(255, 0) });
    expect(await storage.read('/a.txt')).toBe('ä');
    expect(await storage.readBytes('/a.txt')).toEqual(Uint8Array.of(0xc3, 0xa4));
    expect(await storage.readBytes('/b.bin')).toEqual(Uint8Array.of(255, 0));
    expect(await storage.read('/none')).toBeNull();
    expect(await storage.readBytes('/none')).toBeNull();
  });

  it.each(['a.txt', './a.txt'])('refuses the relative path %s, and says which is meant', (path) => {
    expect(() => createInMemoryStorage({ [path]: '' })).toThrow(
      expect.objectContaining({
        code: 'PATH_INVALID',
        message: expect.stringContaining('write "/workspace/a.txt"'),
      }),
    );
  });

  it('reads an empty file as empty, not as null', async () => {
    expect(await createInMemoryStorage({ '/empty': '' }).read('/empty')).toBe('');
  });

  it('writes, makes folders, and keeps copies of bytes', async () => {
    const storage = createInMemoryStorage();
    const bytes = Uint8Array.of(1);
    await storage.write('/a/b/c', bytes);
    bytes[0] = 9;
    const read = await storage.readBytes('/a/b/c');
    expect(read).toEqual(Uint8Array.of(1));
    read?.fill(7);
    expect(await storage.readBytes('/a/b/c')).toEqual(Uint8Array.of(1));
    expect(await storage.exists('/a/b')).toBe(true);
    expect(await storage.exists('/a/x')).toBe(false);
  });

  it('adds to a file, and makes it where it is missing', async () => {
    const storage = createInMemoryStorage();
    await storage.append?.('/a/log', 'ü');
    await storage.append?.('/a/log', Uint8Array.of(0xff));
    expect(await storage.readBytes('/a/log')).toEqual(Uint8Array.of(0xc3, 0xbc, 0xff));
    await expect(storage.append?.('/a', 'x')).rejects.toMatchObject({ code: 'NOT_A_FILE' });
  });

  it('lists children in code point order, folders marked', async () => {
    const storage = createInMemoryStorage({
      '/d/b': '',
      '/d/B': '',
      '/d/\u{1F600}': '',
      '/d/\uFF5E': '',
      '/d/sub/deep': '',
      '/dd/other': '',
    });
    expect(await storage.list('/d')).toEqual(['B', 'b', 'sub', '\uFF5E', '\u{1F600}']);
    expect(await storage.listEntries('/d')).toContainEqual({ name: 'sub', isDir: true });
    expect(await storage.listEntries('/d')).toContainEqual({ name: 'b', isDir: false });
    expect(await storage.list('/')).toEqual(['d', 'dd']);
    expect(await storage.list('/none')).toEqual([]);
  });

  it('tells times by the clock it was given', async () => {
    const clock = createFakeClock(1_000);
    const storage = createInMemoryStorage({ '/a': '' }, clock.now);
    clock.advance(5);
    await storage.write('/b', '');
    expect(await storage.mtime('/a')).toBe(1_000);
    expect(await storage.mtime('/b')).toBe(1_005);
    expect(await storage.mtime('/none')).toBeNull();
  });

  it('removes files, folders only with recursive, and nothing quietly', async () => {
    const storage = createInMemoryStorage({ '/d/a': '', '/d/s/b': '', '/dd': '' });
    await storage.remove('/none');
    await expect(storage.remove('/d')).rejects.toMatchObject({ code: 'NOT_A_FILE' });
    await storage.remove('/d/a');
    expect(await storage.list('/d')).toEqual(['s']);
    await storage.remove('/d', { recursive: true });
    expect(await storage.list('/')).toEqual(['dd']);
  });

  it('renames files over files, and folders with what is below', async () => {
    const storage = createInMemoryStorage({ '/a': 'a', '/b': 'b', '/d/s/x': 'x' });
    await storage.rename('/a', '/b');
    expect(await storage.read('/b')).toBe('a');
    await storage.rename('/d', '/new/e');
    expect(await storage.read('/new/e/s/x')).toBe('x');
    expect(await storage.list('/')).toEqual(['b', 'new']);
  });

  it.each([
    ['read of a folder', 'NOT_A_FILE', (s) => s.read('/d')],
    ['write to a folder', 'NOT_A_FILE', (s) => s.write('/d', '')],
    ['write below a file', 'NOT_A_DIRECTORY', (s) => s.write('/f/x', '')],
    ['list of a file', 'NOT_A_DIRECTORY', (s) => s.list('/f')],
    ['rename of nothing', 'FILE_NOT_FOUND', (s) => s.rename('/none', '/x')],
    ['rename onto a folder', 'ALREADY_EXISTS', (s) => s.rename('/f', '/d')],
    ['rename into itself', 'STORAGE_FAILED', (s) => s.rename('/d', '/d/sub/d')],
  ] satisfies [
    string,
    string,
    (s: ReturnType<typeof createInMemoryStorage>) => Promise<unknown>,
  ][])('refuses a %s with %s', async (_what, code, act) => {
    const storage = createInMemoryStorage({ '/d/a': 'a', '/f': 'f' });
    await expect(act(storage)).rejects.toMatchObject({ code });
    expect(await storage.read('/d/a')).toBe('a');
    expect(await storage.read('/f')).toBe('f');
  });
});
