import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAttachmentCache } from './attachment-cache.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'attachments-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const info = { name: '../../evil.png', mediaType: 'image/png' };
const bytes = Uint8Array.of(0, 1, 2, 255);
const pathOf = (id: string) => join(dir, id.slice(0, 2), id.slice(2));

describe('createAttachmentCache', () => {
  it('get returns what put stored, under the hash of the bytes', async () => {
    const cache = createAttachmentCache({ dir });
    const put = await cache.put(bytes, info);
    expect(put).toEqual({ ...info, id: expect.stringMatching(/^[0-9a-f]{64}$/), sizeBytes: 4 });
    expect(await createAttachmentCache({ dir }).get(put.id)).toEqual(bytes);
    expect((statSync(pathOf(put.id)).mode & 0o777).toString(8)).toBe('600');
  });

  it('put keeps the same bytes once, also 20 times at once', async () => {
    const cache = createAttachmentCache({ dir });
    const puts = await Promise.all(Array.from({ length: 20 }, () => cache.put(bytes, info)));
    expect(new Set(puts.map(({ id }) => id)).size).toBe(1);
    expect(readdirSync(dir, { recursive: true })).toHaveLength(2);
  });

  it('get refuses bytes that changed on the disk, and put repairs them', async () => {
    const cache = createAttachmentCache({ dir });
    const { id } = await cache.put(bytes, info);
    writeFileSync(pathOf(id), 'tampered');
    await expect(cache.get(id)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    await cache.put(bytes, info);
    expect(await cache.get(id)).toEqual(bytes);
  });

  it('follows no link out of its folder', async () => {
    const cache = createAttachmentCache({ dir: join(dir, 'cache') });
    const outside = join(dir, 'outside');
    mkdirSync(outside);
    const { id } = await cache.put(bytes, info);
    const path = join(dir, 'cache', id.slice(0, 2), id.slice(2));
    const target = join(outside, 'target');
    writeFileSync(target, 'theirs');
    rmSync(path);
    symlinkSync(target, path);
    await expect(cache.put(bytes, info)).rejects.toMatchObject({ code: 'PATH_NOT_REACHABLE' });
    expect(readFileSync(target, 'utf8')).toBe('theirs');
    writeFileSync(target, bytes);
    await expect(cache.get(id)).rejects.toMatchObject({ code: 'PATH_NOT_REACHABLE' });

    rmSync(join(dir, 'cache', id.slice(0, 2)), { recursive: true });
    symlinkSync(outside, join(dir, 'cache', id.slice(0, 2)));
    await expect(cache.put(bytes, info)).rejects.toMatchObject({ code: 'PATH_NOT_REACHABLE' });
    expect(readdirSync(outside)).toEqual(['target']);
  });

  it.each<[given: unknown, problem: string]>([
    [undefined, 'the options are missing; give an object with dir, maxBytes'],
    [{ dri: '/x' }, 'there is no option "dri"; did you mean "dir"?'],
    [{}, 'dir must be an absolute path'],
    [{ dir: 'attachments' }, 'dir must be an absolute path'],
    [{ dir: 5 }, 'dir must be an absolute path'],
  ])('refuses the options %j', (given, problem) => {
    expect(() => Reflect.apply(createAttachmentCache, undefined, [given])).toThrow(
      `CONFIG_INVALID: createAttachmentCache: ${problem}`,
    );
  });

  it('may be a link itself, and may be made later', async () => {
    mkdirSync(join(dir, 'disk'));
    symlinkSync(join(dir, 'disk'), join(dir, 'linked'));
    const cache = createAttachmentCache({ dir: join(dir, 'linked', 'cache') });
    const { id } = await cache.put(bytes, info);
    expect(await cache.get(id)).toEqual(bytes);
    expect(readdirSync(join(dir, 'disk', 'cache'))).toEqual([id.slice(0, 2)]);
  });

  it.each<[what: string, given: unknown]>([
    ['an ArrayBuffer', bytes.buffer],
    ['a Blob', new Blob([bytes])],
    ['a text', 'abc'],
    ['a view of other numbers', Uint16Array.of(1, 300)],
  ])('put refuses %s', async (_, given) => {
    const put = Reflect.apply(createAttachmentCache({ dir }).put, undefined, [given, info]);
    await expect(put).rejects.toMatchObject({ code: 'VALUE_INVALID' });
    expect(readdirSync(dir)).toEqual([]);
  });

  it.each(['', 'x', '../../etc/passwd', `../${'a'.repeat(61)}`, 'A'.repeat(64), 'a'.repeat(64)])(
    'get(%j) is null',
    async (id) => {
      expect(await createAttachmentCache({ dir }).get(id)).toBeNull();
    },
  );

  it('put and get hold the cap', async () => {
    const cache = createAttachmentCache({ dir, maxBytes: 4 });
    const { id } = await cache.put(bytes, info);
    const tooLarge = expect.objectContaining({ code: 'FILE_TOO_LARGE' });
    await expect(cache.put(new Uint8Array(5), info)).rejects.toEqual(tooLarge);
    truncateSync(pathOf(id), 2 ** 30);
    await expect(cache.get(id)).rejects.toEqual(tooLarge);
  });
});
