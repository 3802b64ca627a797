import {
  copyFileSync,
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
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rememberFiles } from './file-in-place.js';

const PAST = new Date('2001-01-01');

let dir: string;
let folder: string;
let file: string;
let aside: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'in-place-'));
  folder = join(dir, 'data');
  file = join(folder, 'store.db');
  aside = join(dir, 'aside');
  mkdirSync(folder);
  writeFileSync(file, 'data');
  writeFileSync(`${file}-wal`, 'log');
  utimesSync(folder, PAST, PAST);
});
afterEach(() => rmSync(dir, { recursive: true }));

const later = () => Date.now() + 60_000;

describe('rememberFiles', () => {
  it('looks only at the folder while nothing in it changes, even if the files are written', () => {
    const assertInPlace = rememberFiles(file, later);
    expect(assertInPlace()).toBe(true);
    for (const data of ['a', 'b', 'c']) {
      writeFileSync(`${file}-wal`, data);
      expect(assertInPlace()).toBe(false);
    }
    writeFileSync(join(folder, 'another'), '');
    expect(assertInPlace()).toBe(true);
    expect(assertInPlace()).toBe(false);
  });

  it('looks at the files as long as the folder has just changed: another change may have the same time', () => {
    const assertInPlace = rememberFiles(file, () => statSync(folder).ctimeMs + 2_000);
    expect([assertInPlace(), assertInPlace()]).toEqual([true, true]);
  });

  const replace = (path: string) => {
    copyFileSync(path, aside);
    renameSync(aside, path);
  };
  const folderAside = () => join(dir, 'folder-aside');
  it.each<[string, () => void]>([
    ['the database is removed', () => unlinkSync(file)],
    ['its log is removed', () => unlinkSync(`${file}-wal`)],
    ['the database is moved', () => renameSync(file, aside)],
    ['the database is replaced by a copy', () => replace(file)],
    ['its log is replaced by a copy', () => replace(`${file}-wal`)],
    [
      'the database is replaced, and the time of the folder is set back',
      () => {
        replace(file);
        utimesSync(folder, PAST, PAST);
      },
    ],
    ['the folder is moved', () => renameSync(folder, folderAside())],
    [
      'the folder is replaced by a link to a copy',
      () => {
        renameSync(folder, folderAside());
        mkdirSync(join(dir, 'other'));
        copyFileSync(join(folderAside(), 'store.db'), join(dir, 'other', 'store.db'));
        symlinkSync(join(dir, 'other'), folder);
      },
    ],
  ])('refuses when %s', (_, change) => {
    const assertInPlace = rememberFiles(file, later);
    assertInPlace();
    assertInPlace();
    change();
    expect(assertInPlace).toThrow('put it back');
    expect(assertInPlace).toThrow('put it back');
  });

  it('refuses when a link to the database leads to another file, in a folder that did not change', () => {
    const links = join(dir, 'links');
    mkdirSync(links);
    symlinkSync(file, join(links, 'store.db'));
    const assertInPlace = rememberFiles(join(links, 'store.db'), later);
    assertInPlace();
    assertInPlace();
    replace(file);
    expect(assertInPlace).toThrow('put it back');
  });

  it('allows again when the file is back', () => {
    const assertInPlace = rememberFiles(file, later);
    assertInPlace();
    renameSync(file, aside);
    expect(assertInPlace).toThrow('put it back');
    renameSync(aside, file);
    assertInPlace();
    assertInPlace();
  });
});
