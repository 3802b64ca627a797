import { execFileSync } from 'node:child_process';
import { structuredPatch } from 'diff';

/** One edit whose result is known: a file, a hunk for it, and the file afterwards. */
export interface Edit {
  name: string;
  before: string;
  search: string;
  replace: string;
  after: string;
}

/** Two versions of a file. */
export interface Versions {
  name: string;
  before: string;
  after: string;
}

const TEXT = /\.(?:ts|tsx|js|mjs|json|jsonc|md|yaml|yml|css|html|py|go|sh|mk)$/;
const MAX_FILE_CHARS = 60_000;

/** What the commits of a repository changed: the two versions of each file, newest first. */
export function versionsFromGit(root: string, maxPairs: number): Versions[] {
  const git = (args: string[]) =>
    execFileSync('git', ['-C', root, ...args], {
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  const raw = git(['log', '--raw', '--no-abbrev', '--no-renames', '--diff-filter=M', '--format=']);
  const pairs = raw
    .split('\n')
    .map((line) => /^:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) M\t(.+)$/.exec(line))
    .flatMap((found) => (found === null ? [] : [found.slice(1)]))
    .filter(([, , path = '']) => TEXT.test(path) && !path.endsWith('lock.yaml'));
  const stride = Math.max(1, Math.floor(pairs.length / maxPairs));
  const chosen = pairs.filter((_, at) => at % stride === 0).slice(0, maxPairs);
  return chosen.flatMap(([before = '', after = '', name = '']) => {
    const [old, now] = [git(['cat-file', 'blob', before]), git(['cat-file', 'blob', after])];
    if (old.length > MAX_FILE_CHARS || now.length > MAX_FILE_CHARS) return [];
    return [{ name: `${name}@${after.slice(0, 8)}`, before: old, after: now }];
  });
}

/** The hunks between two versions, each as an edit by itself. */
export function editsOf({ name, before, after }: Versions, context: number): Edit[] {
  const patch = structuredPatch(name, name, before, after, undefined, undefined, {
    context,
    maxEditLength: 1_000,
  });
  return (patch?.hunks ?? []).flatMap((hunk, at): Edit[] => {
    if (hunk.lines.some((line) => line.startsWith('\\'))) return [];
    const side = (marks: string) =>
      hunk.lines
        .filter((line) => marks.includes(line.charAt(0)))
        .map((line) => line.slice(1))
        .join('\n');
    const [search, replace] = [side(' -'), side(' +')];
    const lines = before.split('\n');
    const start = hunk.oldStart - 1;
    const removed = hunk.lines.filter((line) => ' -'.includes(line.charAt(0))).length;
    if (search.trim() === '' || lines.slice(start, start + removed).join('\n') !== search)
      return [];
    // What is replaced by nothing at all takes its line break along.
    const gone = !hunk.lines.some((line) => ' +'.includes(line.charAt(0)));
    const rest = [
      ...lines.slice(0, start),
      ...(gone ? [] : [replace]),
      ...lines.slice(start + removed),
    ];
    const ending = gone ? '\n' : '';
    if (gone && start + removed >= lines.length) return [];
    return [
      {
        name: `${name}#${at}-U${context}`,
        before,
        search: search + ending,
        replace,
        after: rest.join('\n'),
      },
    ];
  });
}
