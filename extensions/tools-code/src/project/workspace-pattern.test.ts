import { describe, expect, it } from 'vitest';
import { coversFolder } from './workspace-pattern.js';

describe('coversFolder', () => {
  it.each([
    ['packages/*', 'packages/a', true],
    ['packages/*', 'packages/a/b', false],
    ['./packages/*/', 'packages/a', true],
    ['packages/**', 'packages/a/b', true],
    ['packages/**', 'other/a', false],
    ['**', 'a/b', true],
    ['**/test', 'a/b/test', true],
    ['**/test', 'test', true],
    ['packages/a*b', 'packages/acb', true],
    ['packages/a*b', 'packages/acbc', false],
    ['packages/?', 'packages/ab', false],
    ['packages/*', 'packages/.a', false],
    ['packages/.*', 'packages/.a', true],
    ['{apps,packages}/*', 'apps/a', true],
    ['{apps,packages}/*', 'libs/a', false],
    ['{a{b,c},d}/x', 'ac/x', true],
    ['a', 'a', true],
    ['a.b', 'aXb', false],
    ['(a+)+', 'aa', false],
  ])('%s covers %s: %s', (pattern, folder, expected) => {
    expect(coversFolder(pattern, folder)).toBe(expected);
  });

  // A regular expression would take longer than anybody waits.
  it.each([
    ['stars in a name', '*a*a*a*a*a*a*a*a*b', 'a'.repeat(250)],
    ['stars for folders', '**/a/**/a/**/a/**/a/**/b', Array(500).fill('a').join('/')],
    ['repeated groups', '+(a|aa)+(a|aa)b', 'a'.repeat(250)],
    ['alternatives', '{a,b}'.repeat(40), 'c'.repeat(40)],
    ['a long pattern', '*'.repeat(1_000_000), 'a'],
  ])('comes to an end with %s', (_what, pattern, folder) => {
    expect(coversFolder(pattern, folder)).toBe(false);
  });
});
