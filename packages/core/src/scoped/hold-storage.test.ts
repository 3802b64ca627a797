import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ForwardingStorage } from '@ethosagent/policy';
import { FsStorage } from '@ethosagent/storage-fs';
import { createTestFolder } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { reachOf, ScopedFsImpl } from './scoped-fs.js';

describe('a storage without a contained view', () => {
  it('is called with the documented arguments, and no others', async () => {
    const storage = {
      read: vi.fn(async () => 'text'),
      write: vi.fn(async () => {}),
      exists: vi.fn(async () => true),
      list: vi.fn(async () => []),
    };
    const fs = new ScopedFsImpl(storage, new Set(['/allowed']), new Set(['/allowed']));
    await fs.read('/allowed/file.txt');
    await fs.write('/allowed/file.txt', 'content');
    await fs.exists('/allowed/file.txt');
    await fs.list('/allowed');
    expect(storage.read).toHaveBeenCalledWith('/allowed/file.txt');
    expect(storage.write).toHaveBeenCalledWith('/allowed/file.txt', 'content');
    expect(storage.exists).toHaveBeenCalledWith('/allowed/file.txt');
    expect(storage.list).toHaveBeenCalledWith('/allowed');
  });

  it('is not called for what is refused', async () => {
    const folder = createTestFolder('held');
    onTestFinished(folder.remove);
    const inside = join(folder.dir, 'in');
    mkdirSync(inside);
    symlinkSync('/etc', join(inside, 'link'));
    const read = vi.fn(async () => 'text');
    const storage = { read, write: read, exists: read, list: read };
    const fs = new ScopedFsImpl(Object(storage), new Set([inside]), new Set([inside]));
    for (const attempt of [
      fs.read(join(inside, 'link', 'hostname')),
      fs.write(join(inside, 'link', 'new'), 'x'),
      fs.exists(join(inside, 'link', 'none')),
      fs.list(join(inside, 'link')),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'PATH_NOT_REACHABLE' });
    }
    expect(read).not.toHaveBeenCalled();
  });

  it('is held to where roots led when the reach was loaded', async () => {
    const folder = createTestFolder('leads');
    onTestFinished(folder.remove);
    const [docs, outside] = [join(folder.dir, 'docs'), join(folder.dir, 'outside')];
    for (const path of [docs, outside]) {
      mkdirSync(path);
      writeFileSync(join(path, 'file'), path);
    }
    const storage = new ForwardingStorage(new FsStorage());
    const leads = { [docs]: docs };
    const fsOf = () => {
      const paths = { read: [docs], write: [docs] };
      const reach = reachOf(storage, { ...paths, leads });
      return new ScopedFsImpl(storage, new Set([docs]), new Set([docs]), { reach });
    };
    expect(await fsOf().read(join(docs, 'file'))).toBe(docs);
    renameSync(docs, join(folder.dir, 'away'));
    symlinkSync(outside, docs);
    const denied = expect.objectContaining({ code: 'PATH_NOT_REACHABLE' });
    await expect(fsOf().read(join(docs, 'file'))).rejects.toEqual(denied);
    await expect(fsOf().write(join(docs, 'file'), 'x')).rejects.toEqual(denied);
  });
});
