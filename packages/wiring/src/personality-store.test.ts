import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tries } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { personalityConfigPath } from './personality-file.js';
import { createPersonalityStore, type PersonalityStore } from './personality-store.js';

let home: string;
let store: PersonalityStore;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'personalities-'));
  store = createPersonalityStore({ home, cwd: '/home/x/repo' });
});
afterEach(() => rmSync(home, { recursive: true }));

function write(id: string, content: string): string {
  const file = personalityConfigPath(home, id);
  mkdirSync(join(home, 'personalities', id), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const allowing = (host: string) => `name: a\nsafety: {network: {allow: [${host}]}}\n`;
const allowed = async (id: string) => (await store.get(id)).safety?.network?.allow;

describe('PersonalityStore.get', () => {
  it('gives the same object while the file is unchanged', async () => {
    write('coder', 'name: a\n');
    const first = await store.get('coder');
    expect(await store.get('coder')).toBe(first);
    expect(store.peek('coder')).toBe(first);
  });

  it('does not read a settled file again', async () => {
    // The clock is far ahead, so every change seems to be long ago.
    store = createPersonalityStore({ home, now: () => Number.MAX_SAFE_INTEGER });
    const file = write('coder', 'name: a\n');
    const first = await store.get('coder');
    chmodSync(file, 0o600);
    expect(await store.get('coder')).toBe(first);
    write('coder', 'name: bb\n');
    expect(await store.get('coder')).toMatchObject({ name: 'bb' });
  });

  const CHANGES = tries({ check: 50, long: 300 });
  it(`sees ${CHANGES} changes in a row that keep size and inode`, async () => {
    const file = write('coder', allowing('host000.com'));
    const { ino, size } = statSync(file);
    for (let i = 0; i < CHANGES; i++) {
      const host = `host${String(i).padStart(3, '0')}.com`;
      write('coder', allowing(host));
      expect(await allowed('coder')).toEqual([host]);
    }
    expect(statSync(file)).toMatchObject({ ino, size });
  });

  it('sees a change whose time of modification was set back', async () => {
    store = createPersonalityStore({ home, now: () => Number.MAX_SAFE_INTEGER });
    const file = write('coder', allowing('a.com'));
    utimesSync(file, 1, 1);
    expect(await allowed('coder')).toEqual(['a.com']);
    // Longer than the resolution of the file system's clock.
    await new Promise((resolve) => setTimeout(resolve, 50));
    write('coder', allowing('b.com'));
    utimesSync(file, 1, 1);
    expect(await allowed('coder')).toEqual(['b.com']);
  });

  it('sees a file that was renamed into place', async () => {
    const file = write('coder', allowing('a.com'));
    expect(await allowed('coder')).toEqual(['a.com']);
    writeFileSync(join(home, 'new'), allowing('b.com'));
    renameSync(join(home, 'new'), file);
    expect(await allowed('coder')).toEqual(['b.com']);
  });

  it('sees a link that was pointed elsewhere', async () => {
    writeFileSync(join(home, 'one'), allowing('a.com'));
    writeFileSync(join(home, 'two'), allowing('b.com'));
    const file = write('coder', '');
    unlinkSync(file);
    symlinkSync(join(home, 'one'), file);
    expect(await allowed('coder')).toEqual(['a.com']);
    unlinkSync(file);
    symlinkSync(join(home, 'two'), file);
    expect(await allowed('coder')).toEqual(['b.com']);
  });

  it.each<[string, (file: string) => void]>([
    ['invalid', (file) => writeFileSync(file, 'name: a\ntypo: 1\n')],
    ['empty', (file) => writeFileSync(file, '')],
    ['missing', (file) => unlinkSync(file)],
    [
      'a directory',
      (file) => {
        unlinkSync(file);
        mkdirSync(file);
      },
    ],
  ])('refuses a file that became %s, and recovers when it is repaired', async (_, damage) => {
    const file = write('coder', 'name: a\n');
    await store.get('coder');
    damage(file);
    for (let i = 0; i < 2; i++) {
      await expect(store.get('coder')).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(file),
      });
      expect(store.peek('coder')).toBeUndefined();
    }
    rmSync(file, { recursive: true, force: true });
    write('coder', 'name: b\n');
    expect(await store.get('coder')).toEqual({ id: 'coder', name: 'b' });
  });

  it('keeps personalities apart when many are asked for at once', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `p${i}`);
    for (const id of ids) write(id, `name: name of ${id}\nfs_reach: {read: ["\${self}"]}\n`);
    const asked = Array.from({ length: 50 }, () => ids).flat();
    const configs = await Promise.all(asked.map((id) => store.get(id)));
    expect(configs).toEqual(
      asked.map((id) => ({
        id,
        name: `name of ${id}`,
        fs_reach: { read: [join(home, 'personalities', id)] },
      })),
    );
  });

  it.each(['..', '__proto__', 'Coder', ''])('refuses the id %j', async (id) => {
    await expect(store.get(id)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('PersonalityStore.peek', () => {
  it('answers nothing before the first get, and for what get refuses', async () => {
    write('coder', 'name: a\n');
    expect(store.peek('coder')).toBeUndefined();
    await store.get('coder');
    expect(store.peek('nobody')).toBeUndefined();
    expect(store.peek('../coder')).toBeUndefined();
  });

  it('sees a change and a personality that get has not seen', async () => {
    write('coder', 'name: a\n');
    await store.get('coder');
    write('coder', 'name: b\n');
    write('writer', 'name: c\n');
    expect(store.peek('coder')).toEqual({ id: 'coder', name: 'b' });
    expect(store.peek('writer')).toEqual({ id: 'writer', name: 'c' });
  });
});

describe('PersonalityStore.list', () => {
  it('is empty when there is no folder', async () => {
    expect(await store.list()).toEqual([]);
  });

  it('names the folders that have a config, valid or not', async () => {
    write('writer', 'typo: 1\n');
    write('coder', 'name: a\n');
    mkdirSync(join(home, 'personalities', 'Upper'));
    writeFileSync(join(home, 'personalities', 'Upper', 'config.yaml'), 'name: a\n');
    mkdirSync(join(home, 'personalities', 'empty'));
    writeFileSync(join(home, 'personalities', 'file'), '');
    symlinkSync(join(home, 'personalities', 'coder'), join(home, 'personalities', 'linked'));
    expect(await store.list()).toEqual(['coder', 'linked', 'writer']);
  });

  it('refuses a folder that is a file', async () => {
    writeFileSync(join(home, 'personalities'), '');
    await expect(store.list()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('createPersonalityStore', () => {
  it.each(['', 'relative'])('refuses the home %j', (relative) => {
    expect(() => createPersonalityStore({ home: relative })).toThrow('home: must be an absolute');
  });
});
