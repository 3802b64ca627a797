import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FsStorage } from './fs-storage.js';

// What holds for every contained storage is tested in `attacks.test.ts`.

let inside: string;
beforeEach(() => {
  inside = realpathSync(mkdtempSync(join(tmpdir(), 'contained-')));
  writeFileSync(join(inside, 'file'), 'hello');
});
afterEach(() => rmSync(inside, { recursive: true, force: true }));

describe('FsStorage.contained', () => {
  it('refuses a file one byte above the cap', async () => {
    const capped = new FsStorage({ maxReadBytes: 5 }).contained({ read: [inside], write: [] });
    expect(await capped.read(join(inside, 'file'))).toBe('hello');
    writeFileSync(join(inside, 'file'), 'hello!');
    await expect(capped.read(join(inside, 'file'))).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
    });
  });

  it('names the rule in a denial', async () => {
    symlinkSync('/etc/passwd', join(inside, 'link'));
    const view = new FsStorage().contained({ read: [inside], write: [] });
    await expect(view.read(join(inside, 'link'))).rejects.toMatchObject({
      rule: 'a link leaves the reach',
    });
  });
});
