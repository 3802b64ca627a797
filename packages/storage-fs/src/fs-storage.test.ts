import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FsStorage } from './fs-storage.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'fs-storage-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const storage = new FsStorage();
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('FsStorage.write', () => {
  it.each([0o600, 0o640, 0o666, 0o755])('gives a file exactly the mode %o', async (mode) => {
    const path = join(dir, 'file');
    await storage.write(path, 'x', { mode });
    expect(modeOf(path)).toBe(mode.toString(8));
  });

  it('keeps the mode of a file that it replaces, unless another is asked for', async () => {
    const path = join(dir, 'file');
    writeFileSync(path, 'x');
    chmodSync(path, 0o751);
    await storage.write(path, 'y');
    expect(modeOf(path)).toBe('751');
    await storage.write(path, 'z', { mode: 0o600 });
    expect(modeOf(path)).toBe('600');
  });

  it('gives a new file the mode that the umask leaves', async () => {
    writeFileSync(join(dir, 'plain'), 'x');
    await storage.write(join(dir, 'file'), 'x');
    expect(modeOf(join(dir, 'file'))).toBe(modeOf(join(dir, 'plain')));
  });

  it('follows a link and keeps it', async () => {
    writeFileSync(join(dir, 'real'), 'x');
    symlinkSync('real', join(dir, 'link'));
    await storage.write(join(dir, 'link'), 'y');
    expect(readFileSync(join(dir, 'real'), 'utf8')).toBe('y');
  });

  it('replaces one name of a file and leaves its other hard links the old content', async () => {
    writeFileSync(join(dir, 'file'), 'x');
    linkSync(join(dir, 'file'), join(dir, 'other'));
    await storage.write(join(dir, 'file'), 'y');
    expect(readFileSync(join(dir, 'other'), 'utf8')).toBe('x');
  });

  it.runIf(isLongRun())('does 500 writes at once', async () => {
    const paths = Array.from({ length: 500 }, (_, index) => join(dir, String(index % 100)));
    await Promise.all(paths.map((path) => storage.write(path, path)));
    expect(await storage.list(dir)).toHaveLength(100);
    expect(await storage.read(join(dir, '7'))).toBe(join(dir, '7'));
  });

  it('names the path asked for when the system refuses, and leaves nothing behind', async () => {
    // Nobody can create a file in procfs, not even root.
    const path = '/proc/self/ethos-test';
    const refused = storage.write(path, 'x');
    await expect(refused).rejects.toMatchObject({
      code: expect.stringMatching(/^(PERMISSION_DENIED|READ_ONLY|FILE_NOT_FOUND)$/),
      message: expect.stringContaining(path),
    });
    expect(existsSync(path)).toBe(false);
  });

  it('refuses a name that is too long for the file system', async () => {
    const path = join(dir, 'x'.repeat(300));
    await expect(storage.write(path, 'x')).rejects.toMatchObject({ code: 'PATH_INVALID' });
    expect(await storage.list(dir)).toEqual([]);
  });
});

describe('FsStorage.read', () => {
  it('reads what the kernel makes up as it is read', async () => {
    expect(await storage.read('/proc/self/status')).toContain('Name:');
    expect((await storage.readBytes('/proc/self/status'))?.length).toBeGreaterThan(100);
  });

  it('refuses a device', async () => {
    const notAFile = expect.objectContaining({ code: 'NOT_A_FILE' });
    await expect(storage.read('/dev/zero')).rejects.toEqual(notAFile);
    expect(await storage.read('/dev/null')).toBe('');
  });

  it('refuses a loop of links', async () => {
    symlinkSync('loop', join(dir, 'loop'));
    const looping = expect.objectContaining({ code: 'STORAGE_FAILED' });
    await expect(storage.read(join(dir, 'loop'))).rejects.toEqual(looping);
    await expect(storage.write(join(dir, 'loop'), 'x')).rejects.toEqual(looping);
  });

  // A large text is read in pieces of 1 MiB. Those before the first that is not ASCII become one string.
  it.each([
    ['ASCII, of whole pieces', 'x'.repeat(3 * 2 ** 20)],
    ['ASCII, with a part of a piece', `${'ab\0\x7f'.repeat(2 ** 19)}c`],
    ['ASCII, then other pieces, then ASCII', `${'x'.repeat(2 ** 21)}é€${'y'.repeat(2 ** 21)}z`],
    ['ASCII, and another character at the end', `${'x'.repeat(2 ** 21 - 3)}€`],
  ])('reads a large text: %s', async (_, text) => {
    const path = join(dir, 'large');
    writeFileSync(path, text);
    expect((await storage.read(path)) === text).toBe(true);
  });

  it.each(
    [0, 1, 2, 3].flatMap((before) => ['é', '€', '😀', '\ud800'].map((char) => ({ before, char }))),
  )(
    'reads a large text with $char $before bytes before the end of a piece',
    async ({ before, char }) => {
      const path = join(dir, 'large');
      writeFileSync(path, `${'x'.repeat(2 ** 20 - before)}${char.repeat(2 ** 18)}é`);
      expect(await storage.read(path)).toBe(readFileSync(path, 'utf8'));
    },
  );

  it.each(['c3', 'e282', 'f09f98', 'f0', '80', 'ed a0 80', 'ff'])(
    'reads a large text that breaks off with %s, and has it in the middle',
    async (bytes) => {
      const path = join(dir, 'large');
      const broken = Buffer.from(bytes.replaceAll(' ', ''), 'hex');
      const first = Buffer.alloc(2 ** 20 - 1, 'x');
      writeFileSync(path, Buffer.concat([first, broken, Buffer.from('y€'), first, broken]));
      expect(await storage.read(path)).toBe(readFileSync(path, 'utf8'));
    },
  );

  it.runIf(process.platform === 'linux')('reads a large text that has no size', async () => {
    const text = await storage.read('/proc/kallsyms');
    expect(text?.length).toBeGreaterThan(2 ** 20);
    expect(text).toBe(readFileSync('/proc/kallsyms', 'utf8'));
  });

  it('does not mix up large texts, read at once and after each other', async () => {
    const texts = [3, 1, 2, 1].map((pieces, index) => String(index).repeat(pieces * 2 ** 20));
    texts.push(`${texts[0]}€`, `${texts[1]}ü${texts[2]}`, '5');
    texts.forEach((text, index) => {
      writeFileSync(join(dir, `${index}`), text);
    });
    const read = async (index: number) =>
      (await storage.read(join(dir, `${index}`))) === texts[index];
    const all = [...texts.keys()];
    for (const index of [...all, ...all]) expect(await read(index), `${index}`).toBe(true);
    const atOnce = await Promise.all([...all, ...all, ...all].map(read));
    expect(new Set(atOnce)).toEqual(new Set([true]));
  });

  it('does not mix up many reads at once', async () => {
    const names = Array.from({ length: 20 }, (_, index) => String(index));
    for (const name of names) writeFileSync(join(dir, name), name.repeat(Number(name) * 5_000));
    const jobs = [...names, ...names, ...names];
    const texts = await Promise.all(jobs.map((name) => storage.read(join(dir, name))));
    jobs.forEach((name, index) => {
      expect(texts[index] === name.repeat(Number(name) * 5_000), name).toBe(true);
    });
  });
});

describe('FsStorage.mkdir', () => {
  it.each([
    ['mkdir', (path: string) => storage.mkdir(path), 64],
    ['write', (path: string) => storage.write(join(path, 'x'), ''), 63],
  ])('and the like make no more than 64 parts of a path: %s', async (_name, make, most) => {
    const deep = (folders: number) => join(dir, 'deep', ...Array(folders - 1).fill('a'));
    await expect(make(deep(most + 1))).rejects.toMatchObject({
      code: 'PATH_INVALID',
      message: expect.stringContaining('make the upper folders first'),
    });
    expect(existsSync(join(dir, 'deep'))).toBe(false);
    await make(deep(most));
    await make(deep(2 * most));
    expect(existsSync(deep(2 * most))).toBe(true);
  });

  it('gives the folders that it makes the mode asked for, and leaves others', async () => {
    mkdirSync(join(dir, 'there'));
    chmodSync(join(dir, 'there'), 0o755);
    await storage.mkdir(join(dir, 'there', 'a', 'b'), { mode: 0o700 });
    await storage.mkdir(join(dir, 'there'), { mode: 0o700 });
    expect(modeOf(join(dir, 'there'))).toBe('755');
    expect(modeOf(join(dir, 'there', 'a'))).toBe('700');
    expect(modeOf(join(dir, 'there', 'a', 'b'))).toBe('700');
  });
});
