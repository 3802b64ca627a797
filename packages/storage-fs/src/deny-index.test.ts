import { linkSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DenyIndex } from './deny-index.js';

let base: string;
/** Two denied folders with four entries each, including themselves, and a file with two names. */
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'deny-index-'));
  for (const folder of ['a', 'b']) {
    mkdirSync(join(base, folder));
    for (const name of ['1', '2', '3']) writeFileSync(join(base, folder, name), 'SECRET');
  }
  linkSync(join(base, 'b', '3'), join(base, 'stolen'));
  writeFileSync(join(base, 'honest'), 'x');
  linkSync(join(base, 'honest'), join(base, 'honest2'));
});
afterEach(() => rmSync(base, { recursive: true }));

const denied = (index: DenyIndex, name: string) => index.hasInode(lstatSync(join(base, name)));

describe('DenyIndex.hasInode', () => {
  it('gives each denied place its own share of the entries looked at', () => {
    const index = new DenyIndex([join(base, 'a'), join(base, 'b')], 4);
    expect(denied(index, 'stolen')).toBe(true);
    expect(denied(index, 'honest')).toBe(false);
  });

  it('takes any file with several hard links for a denied one when a share is too small', () => {
    const index = new DenyIndex([join(base, 'a'), join(base, 'b')], 3);
    expect(denied(index, 'stolen')).toBe(true);
    expect(denied(index, 'honest')).toBe(true);
    expect(denied(index, 'a/1')).toBe(false);
  });
});
