import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileSecrets, type FileSecrets } from './file-secrets.js';
import { temporaryName } from './temp-files.js';

let base: string;
let dir: string;
let secrets: FileSecrets;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'file-secrets-'));
  dir = join(base, 'secrets');
  secrets = createFileSecrets({ dir });
});
afterEach(() => rmSync(base, { recursive: true }));

const notFound = expect.objectContaining({ code: 'SECRET_NOT_FOUND' });
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('createFileSecrets', () => {
  it.each(['value', '', 'ends in a newline\n', ' spaces ', 'two\nlines', 'żółć😀'])(
    'get returns what set stored, %j',
    async (value) => {
      await secrets.set('providers/openweather/apiKey', value);
      expect(await secrets.get('providers/openweather/apiKey')).toBe(value);
    },
  );

  it('set makes folders and files for the owner alone, also over an open file', async () => {
    await secrets.set('a/b/c', 'x');
    expect([dir, join(dir, 'a'), join(dir, 'a/b')].map(modeOf)).toEqual(['700', '700', '700']);
    expect(modeOf(join(dir, 'a/b/c'))).toBe('600');
    chmodSync(join(dir, 'a/b/c'), 0o644);
    await secrets.set('a/b/c', 'y');
    expect(modeOf(join(dir, 'a/b/c'))).toBe('600');
  });

  it.each([
    ['value\n', 'value'],
    ['value\r\n', 'value'],
    ['value\n\n', 'value\n'],
    ['value', 'value'],
  ])('get strips one newline at the end, %j', async (content, value) => {
    mkdirSync(dir);
    writeFileSync(join(dir, 'ref'), content, { mode: 0o600 });
    expect(await secrets.get('ref')).toBe(value);
  });

  it('has, delete and list know what is there', async () => {
    await secrets.set('b', 'x');
    await secrets.set('a/deep', 'x');
    symlinkSync(base, join(dir, 'loop'));
    writeFileSync(join(dir, temporaryName()), 'x');
    expect(await secrets.list()).toEqual(['a/deep', 'b']);
    expect(await secrets.has('a/deep')).toBe(true);
    expect(await secrets.has('a')).toBe(false);
    await secrets.delete('a/deep');
    await secrets.delete('a/deep');
    expect(await secrets.has('a/deep')).toBe(false);
    expect(await secrets.list()).toEqual(['b']);
  });

  it.each([[{}], [{ dir: 'secrets' }]])('takes no folder from %j', (options) => {
    expect(() => createFileSecrets(Object(options))).toThrow(
      'CONFIG_INVALID: createFileSecrets: dir must be an absolute path',
    );
  });

  it('list is empty, and get names the ref, when there is no folder', async () => {
    expect(await secrets.list()).toEqual([]);
    expect(await secrets.has('x')).toBe(false);
    await expect(secrets.get('x/y')).rejects.toThrow('SECRET_NOT_FOUND: x/y: no value');
  });

  it.each(['', '/', '/x', 'x/', 'a//b', '.', '..', 'a/../b', '../x', 'a/./b', 'a\\b', 'a\0', '*'])(
    'refuses the ref %j in every method',
    async (ref) => {
      writeFileSync(join(base, 'x'), 'OUTSIDE', { mode: 0o600 });
      const calls = [
        secrets.get(ref),
        secrets.has(ref),
        secrets.set(ref, 'x'),
        secrets.delete(ref),
      ];
      for (const outcome of await Promise.allSettled(calls)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: notFound });
      }
      expect(readdirSync(base)).toEqual(['x']);
    },
  );

  it.each([0o640, 0o604, 0o660, 0o644])('get refuses a file with the mode %o', async (mode) => {
    await secrets.set('ref', 'value');
    chmodSync(join(dir, 'ref'), mode);
    await expect(secrets.get('ref')).rejects.toThrow(/^SECRET_NOT_FOUND: ref: .*chmod 600/);
  });

  it.each([
    ['the folder of all', '.', 0o770],
    ['a folder on the way', 'a', 0o702],
    ['the folder that it is in', 'a/b', 0o777],
  ])('get and set refuse where others may write in %s', async (_, folder, mode) => {
    await secrets.set('a/b/KEY', 'x');
    chmodSync(join(dir, folder), mode);
    const refused = { code: 'SECRET_NOT_FOUND', message: expect.stringContaining('chmod 700') };
    await expect(secrets.get('a/b/KEY')).rejects.toMatchObject(refused);
    await expect(secrets.set('a/b/KEY', 'y')).rejects.toMatchObject(refused);
    chmodSync(join(dir, folder), 0o700);
    expect(await secrets.get('a/b/KEY')).toBe('x');
  });

  it.runIf(process.geteuid?.() === 0).each(['a/KEY', 'a', '.'])(
    'get refuses what another user owns: %s',
    async (path) => {
      await secrets.set('a/KEY', 'x');
      chownSync(join(dir, path), 12_345, 12_345);
      await expect(secrets.get('a/KEY')).rejects.toMatchObject({
        code: 'SECRET_NOT_FOUND',
        message: expect.stringContaining('belongs to another user'),
      });
    },
  );

  it('refuses links, as the file and as a folder', async () => {
    mkdirSync(dir);
    mkdirSync(join(base, 'elsewhere'));
    writeFileSync(join(base, 'elsewhere', 'file'), 'OUTSIDE', { mode: 0o600 });
    symlinkSync('../elsewhere/file', join(dir, 'leaf'));
    symlinkSync('../elsewhere', join(dir, 'folder'));
    for (const ref of ['leaf', 'folder/file', 'folder/new']) {
      await expect(secrets.get(ref)).rejects.toEqual(notFound);
      await expect(secrets.set(ref, 'x')).rejects.toEqual(notFound);
      await expect(secrets.delete(ref)).rejects.toEqual(notFound);
    }
    expect(readdirSync(join(base, 'elsewhere'))).toEqual(['file']);
  });

  it('names neither a path nor a value in any error', async () => {
    await secrets.set('ref', 'VALUE');
    chmodSync(join(dir, 'ref'), 0o644);
    mkdirSync(join(dir, 'folder'));
    writeFileSync(join(dir, 'large'), Buffer.alloc(2_000_000), { mode: 0o600 });
    const calls = [
      secrets.get('ref'),
      secrets.get('folder'),
      secrets.get('large'),
      secrets.get('none'),
      secrets.get('ref/below'),
      secrets.set('ref/below', 'VALUE'),
      secrets.set('folder', 'VALUE'),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: expect.stringMatching(/^SECRET(_NOT_FOUND|S_UNAVAILABLE)$/) },
      });
      if (outcome.status === 'rejected') expect(String(outcome.reason)).not.toMatch(/VALUE|tmp/);
    }
  });
});
