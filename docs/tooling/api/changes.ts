import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { REPOSITORY } from '../markdown.js';
import { type ApiChange, compareReports } from './compare.js';

const BUMPS = ['patch', 'minor', 'major'];

/** A file of `.changeset`. */
export interface Changeset {
  releases: ReadonlyMap<string, string>;
  /** It explains why a change that looks breaking does not break anything. */
  isCompatible: boolean;
}

/** A line of a changeset that answers for changes which only look breaking. The reason is a sentence. */
const COMPATIBLE = /^Compatible: \S.{20,}$/m;

/** @throws for a text without its front matter */
export function parseChangeset(text: string): Changeset {
  const [, head, body = ''] = /^---\n([\s\S]*?)\n?---\n([\s\S]*)$/.exec(text) ?? [];
  if (head === undefined)
    throw new Error('A changeset begins with the packages, between two lines of ---.');
  const releases = Object.entries(Object(parse(head))).map(
    ([name, bump]) => [name, String(bump)] as const,
  );
  return { releases: new Map(releases), isCompatible: COMPATIBLE.test(body) };
}

/**
 * The changes of an API that no changeset tells the users of.
 *
 * @param version of all packages: while it begins with `0.`, `minor` is enough for a change that breaks
 */
export function untold(
  changes: readonly ApiChange[],
  changesets: readonly Changeset[],
  version: string,
): ApiChange[] {
  const forBreaking = version.startsWith('0.') ? 'minor' : 'major';
  const forAddition = version.startsWith('0.') ? 'patch' : 'minor';
  return changes.filter(({ specifier, kind }) => {
    const [name = ''] = /^@[^/]+\/[^/]+/.exec(specifier) ?? [];
    return !changesets.some(({ releases, isCompatible }) => {
      const needed = kind === 'breaking' && !isCompatible ? forBreaking : forAddition;
      return rankOf(releases.get(name)) >= rankOf(needed);
    });
  });
}

function rankOf(bump = 'none'): number {
  return BUMPS.indexOf(bump);
}

/** The changes since a commit, and those that no changeset of these commits announces. */
export function changesSince(repository: string, commit: string) {
  const before = filesAt(repository, commit);
  const now = filesOf(repository);
  const api = (files: Files) => [...files].filter(([path]) => path.startsWith('docs/api/'));
  // Before the first report there is nothing to compare with.
  const paths =
    api(before).length === 0 ? [] : new Set([...api(before), ...api(now)].map(([path]) => path));
  const changes = [...paths].flatMap((path) =>
    compareReports(before.get(path) ?? '', now.get(path) ?? ''),
  );
  const changesets = [...now]
    .filter(
      ([path, text]) => /^\.changeset\/(?!README).*\.md$/.test(path) && before.get(path) !== text,
    )
    .map(([, text]) => parseChangeset(text));
  const { version } = JSON.parse(now.get('packages/types/package.json') ?? '{}');
  return { changes, untold: untold(changes, changesets, String(version)) };
}

type Files = ReadonlyMap<string, string>;

const PATHS = ['docs/api', '.changeset', 'packages/types/package.json'];

function git(repository: string, ...args: string[]): string {
  const options = { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: 'pipe' } as const;
  return execFileSync('git', args, options);
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

function filesAt(repository: string, commit: string): Files {
  const listed = lines(git(repository, 'ls-tree', '-r', '--name-only', commit, ...PATHS));
  return new Map(listed.map((path) => [path, git(repository, 'show', `${commit}:${path}`)]));
}

/** As they are on disk, since that is what a commit will have. */
function filesOf(repository: string): Files {
  const options = ['--cached', '--others', '--exclude-standard'];
  const listed = lines(git(repository, 'ls-files', ...options, '--', ...PATHS));
  const there = listed.filter((path) => existsSync(join(repository, path)));
  return new Map(there.map((path) => [path, readFileSync(join(repository, path), 'utf8')]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({ options: { since: { type: 'string', default: 'origin/main' } } });
  const base = git(REPOSITORY, 'merge-base', values.since, 'HEAD').trim();
  const { changes, untold: missing } = changesSince(REPOSITORY, base);
  const lineOf = ({ kind, what, specifier, name }: ApiChange) =>
    `${kind}: ${what} ${specifier} ${name}\n`;
  process.stdout.write(
    changes.length === 0 ? 'No change of the API.\n' : changes.map(lineOf).join(''),
  );
  if (missing.length > 0) {
    process.stderr.write(
      `\nNo changeset tells the users of:\n${missing.map(lineOf).join('')}\nAdd a file to .changeset, as its README.md shows.\n`,
    );
    process.exitCode = 1;
  }
}
