import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGuard } from '@ethosagent/policy';
import type { Storage } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { descriptorAccess } from './access.js';
import { appendFile } from './append-file.js';
import { FsStorage } from './fs-storage.js';

// What holds for every storage is tested in `conformance.test.ts` and `attacks.test.ts`.

let base: string;
let inside: string;
let outside: string;
let view: Storage;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'append-')));
  inside = join(base, 'inside');
  outside = join(base, 'outside');
  for (const folder of [join(inside, 'sub'), outside]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(inside, 'sub', 'log'), 'old');
  writeFileSync(join(outside, 'secret'), 'SECRET');
  view = new FsStorage().contained({
    read: [inside],
    write: [inside],
    deny: [join(outside, 'secret')],
  });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const append = async (path: string, beforeChange?: () => void) =>
  view.append?.(path, 'added', beforeChange === undefined ? {} : { beforeChange });
const denied = { code: 'PATH_NOT_REACHABLE' };

/** What happens after the place was checked and before the file is opened. */
const swaps: [what: string, swap: () => void][] = [
  [
    'the file by a link out',
    () => {
      rmSync(join(inside, 'sub', 'log'));
      symlinkSync(join(outside, 'secret'), join(inside, 'sub', 'log'));
    },
  ],
  [
    'the file by a hard link to a denied one',
    () => {
      rmSync(join(inside, 'sub', 'log'));
      linkSync(join(outside, 'secret'), join(inside, 'sub', 'log'));
    },
  ],
  ['the folder by nothing, moved out', () => renameSync(join(inside, 'sub'), join(outside, 'sub'))],
];

describe('FsStorage.append', () => {
  it.each(swaps)('is denied when someone replaces %s', async (_what, swap) => {
    await expect(append(join(inside, 'sub', 'log'), swap)).rejects.toMatchObject(denied);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('SECRET');
    const moved = readdirSync(outside).includes('sub');
    if (moved) expect(readFileSync(join(outside, 'sub', 'log'), 'utf8')).toBe('old');
  });

  it('leaves no file that it made in a folder that has just left the reach', async () => {
    const swap = () => renameSync(join(inside, 'sub'), join(outside, 'sub'));
    await expect(append(join(inside, 'sub', 'new'), swap)).rejects.toMatchObject(denied);
    expect(readdirSync(join(outside, 'sub'))).toEqual(['log']);
  });

  it('adds to a file that someone else makes meanwhile, and to one that is replaced', async () => {
    const path = join(inside, 'new');
    await append(path, () => writeFileSync(path, 'theirs '));
    expect(readFileSync(path, 'utf8')).toBe('theirs added');
    await append(path, () => {
      writeFileSync(`${path}.tmp`, 'replaced ');
      renameSync(`${path}.tmp`, path);
    });
    expect(readFileSync(path, 'utf8')).toBe('replaced added');
  });

  it('makes a file that is removed meanwhile again', async () => {
    const path = join(inside, 'sub', 'log');
    await append(path, () => rmSync(path));
    expect(readFileSync(path, 'utf8')).toBe('added');
  });

  it('gives a file that it makes the mode, and leaves that of another', async () => {
    const path = join(inside, 'made');
    await view.append?.(path, 'a', { mode: 0o606 });
    await view.append?.(path, 'b', { mode: 0o600 });
    expect(statSync(path).mode & 0o777).toBe(0o606);
    expect(readFileSync(path, 'utf8')).toBe('ab');
  });

  it('keeps the file, so that its readers see what is added', async () => {
    const path = join(inside, 'sub', 'log');
    const { ino } = statSync(path);
    await append(path);
    expect(statSync(path).ino).toBe(ino);
  });

  it('swallows what is added to /dev/null', async () => {
    const wide = new FsStorage().contained({ read: [], write: ['/dev/null'] });
    let calls = 0;
    await wide.append?.('/dev/null', 'x', {
      beforeChange: () => {
        calls += 1;
      },
    });
    expect(calls).toBe(1);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});

describe('FsStorage.append to a file with several names', () => {
  let path: string;
  let other: string;
  beforeEach(() => {
    path = join(inside, 'sub', 'log');
    other = join(outside, 'same');
    linkSync(path, other);
  });

  it('replaces the one name, with the mode of the file, and leaves the others the old content', async () => {
    chmodSync(path, 0o640);
    let calls = 0;
    await view.append?.(path, 'added', {
      mode: 0o600,
      beforeChange: () => {
        calls += 1;
        expect(readFileSync(path, 'utf8')).toBe('old');
      },
    });
    expect(calls).toBe(1);
    expect(readFileSync(path, 'utf8')).toBe('oldadded');
    expect(readFileSync(other, 'utf8')).toBe('old');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(inside, 'sub'))).toEqual(['log']);
  });

  it('follows a link to it, and needs no right to read', async () => {
    symlinkSync('sub/log', join(inside, 'link'));
    const blind = new FsStorage().contained({ read: [], write: [inside] });
    await blind.append?.(join(inside, 'link'), 'added');
    expect(lstatSync(join(inside, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('oldadded');
    expect(readFileSync(other, 'utf8')).toBe('old');
  });

  it('keeps all of 100 appends at once, by two storages', async () => {
    const views = [view, new FsStorage()];
    const added = Array.from({ length: 100 }, (_, index) => `${index};`);
    await Promise.all(added.map((text, index) => views[index % 2]?.append?.(path, text)));
    const found = readFileSync(path, 'utf8');
    expect(found.slice(0, 3)).toBe('old');
    expect(found.slice(3).split(';').sort()).toEqual(
      ['', ...added.map((t) => t.slice(0, -1))].sort(),
    );
    expect(readFileSync(other, 'utf8')).toBe('old');
  });

  it('changes nothing when the file is larger than the cap of a read', async () => {
    const world = { access: descriptorAccess, guard: openGuard };
    const request = { kind: 'write', asked: path, path } as const;
    const options = { content: 'added', mode: undefined, announce: () => {}, maxReadBytes: 2 };
    const refused = appendFile(world, request, options);
    await expect(refused).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  // Attack: a file that may be written and not read is copied to where it may be read.
  it.each(Array.from({ length: 12 }, (_, index) => index))(
    'takes what it read nowhere else when someone swaps the file for a link at judgement %i',
    async (turn) => {
      const elsewhere = join(inside, 'elsewhere');
      writeFileSync(elsewhere, '');
      let judged = 0;
      const judge = () => {
        if (judged === turn) {
          rmSync(path);
          symlinkSync('../elsewhere', path);
        }
        judged += 1;
      };
      const world = { access: descriptorAccess, guard: { ...openGuard, judge } };
      const request = { kind: 'write', asked: path, path } as const;
      await appendFile(world, request, {
        content: 'added',
        mode: undefined,
        announce: () => {},
        maxReadBytes: 100,
      }).catch((error) => expect(error).toMatchObject(denied));
      expect(readFileSync(elsewhere, 'utf8')).not.toContain('old');
      expect(readFileSync(other, 'utf8')).toBe('old');
    },
  );
});
