import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { createTestFolder } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished } from 'vitest';
import { changesSince, parseChangeset, untold } from './changes.js';
import type { ApiChange } from './compare.js';
import { ENTRY } from './report.js';

const change = (kind: ApiChange['kind']): ApiChange => ({
  specifier: '@ethosagent/core/scoped',
  name: 'f',
  what: 'changed',
  kind,
});
const changeset = (bump: string, name = '@ethosagent/core', body = 'What a user reads.') =>
  parseChangeset(`---\n"${name}": ${bump}\n---\n\n${body}\n`);
const COMPATIBLE = 'Compatible: only the registry makes such a result, and nobody else.';

describe('untold', () => {
  it.each([
    ['breaking', '0.4.0', 'patch', 1],
    ['breaking', '0.4.0', 'minor', 0],
    ['breaking', '1.4.0', 'minor', 1],
    ['breaking', '1.4.0', 'major', 0],
    ['addition', '0.4.0', 'patch', 0],
    ['addition', '1.4.0', 'patch', 1],
    ['addition', '1.4.0', 'minor', 0],
  ] as const)('of a %s change at %s with a %s changeset', (kind, version, bump, expected) => {
    expect(untold([change(kind)], [changeset(bump)], version)).toHaveLength(expected);
  });

  it('is a change whose changeset names another package, or that has none', () => {
    const other = changeset('major', '@ethosagent/policy');
    expect(untold([change('addition')], [other], '0.1.0')).toHaveLength(1);
    expect(untold([change('breaking')], [], '0.1.0')).toHaveLength(1);
  });

  it('is not what a changeset calls compatible, and says why', () => {
    const reasoned = changeset('patch', '@ethosagent/core', COMPATIBLE);
    expect(untold([change('breaking')], [reasoned], '0.1.0')).toEqual([]);
    const bare = changeset('patch', '@ethosagent/core', 'Compatible: yes');
    expect(untold([change('breaking')], [bare], '0.1.0')).toHaveLength(1);
  });
});

it('parseChangeset refuses a file that names no package where one would look', () => {
  expect(() => parseChangeset('# A change')).toThrow(/begins with the packages/);
});

it('changesSince compares the files on disk with a commit, and takes only changesets that are new', () => {
  const folder = createTestFolder('api-changes');
  onTestFinished(() => folder.remove());
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder.dir, stdio: 'pipe' });
  const report = (text: string) =>
    folder.put('docs/api/core.txt', `\n${ENTRY}@ethosagent/core\n\n${text}\n`);
  git('init', '--quiet');
  folder.put('packages/types/package.json', '{ "version": "0.1.0" }');
  folder.put('.changeset/old.md', '---\n"@ethosagent/core": minor\n---\n\nAn earlier change.\n');
  report('export function f(): void;');
  git('add', '--all');
  git(
    '-c',
    'user.name=t',
    '-c',
    'user.email=t@localhost',
    'commit',
    '--quiet',
    '--no-gpg-sign',
    '-m',
    'x',
  );

  expect(changesSince(folder.dir, 'HEAD')).toEqual({ changes: [], untold: [] });
  report('export function f(a: string): void;');
  expect(changesSince(folder.dir, 'HEAD').untold).toHaveLength(1);
  folder.put('.changeset/new.md', '---\n"@ethosagent/core": minor\n---\n\n`f` takes a string.\n');
  expect(changesSince(folder.dir, 'HEAD')).toMatchObject({ changes: [{ name: 'f' }], untold: [] });

  rmSync(`${folder.dir}/docs/api/core.txt`);
  mkdirSync(`${folder.dir}/docs/api/empty`);
  expect(changesSince(folder.dir, 'HEAD').changes).toMatchObject([{ name: 'f', what: 'removed' }]);
});
