import picomatch from 'picomatch';

// Hidden files are left out by ripgrep; what it reports, a glob may match.
const OPTIONS = { dot: true, noextglob: true } as const;

/** Globs, split between what ripgrep can narrow by itself and what is checked on its answers. */
export interface FileGlobs {
  /** Globs for file names, one of which a file has to match; empty for any. */
  readonly nameGlobs: readonly string[];
  /** Globs of what to leave out, wherever it lies. */
  readonly excludedNames: readonly string[];
  /** The two lists above say it all, so that `matches` need not be asked. */
  readonly isNarrowed: boolean;
  /** Decides on a path relative to the root of the search, with `/` between segments. */
  matches(path: string): boolean;
}

/**
 * Compiles globs. Without a `/` a glob is for the name of a file, with one for its path from the
 * root of the search; a leading `!` leaves out what matches, folders with all below them.
 *
 * Handed to ripgrep as `--glob`, they would override `.gitignore`. Names are narrowed by a file
 * type instead, which doesn't.
 */
export function compileGlobs(globs: readonly string[]): FileGlobs {
  const included = globs
    .filter((glob) => !glob.startsWith('!'))
    .map(fromRoot)
    .map((glob) => (glob === '' || glob.endsWith('/') ? `${glob}**` : glob));
  const excluded = globs
    .filter((glob) => glob.startsWith('!'))
    .map((glob) => fromRoot(glob.slice(1)).replace(/\/+$/, ''))
    .filter((glob) => glob !== '');
  const nameGlobs = included.map(lastSegment);
  const canNarrow = nameGlobs.every((glob) => glob !== undefined);
  const includes = included.map(matcherOf);
  const excludes = excluded
    .filter(hasSlash)
    .flatMap((glob) => [picomatch(glob, OPTIONS), picomatch(`${glob}/**`, OPTIONS)]);
  return {
    nameGlobs: canNarrow ? nameGlobs.filter((glob) => glob !== undefined) : [],
    excludedNames: excluded.filter((glob) => !hasSlash(glob)),
    isNarrowed: canNarrow && !included.some(hasSlash) && excludes.length === 0,
    matches: (path) =>
      (includes.length === 0 || includes.some((matches) => matches(path))) &&
      !excludes.some((matches) => matches(path)),
  };
}

function fromRoot(glob: string): string {
  return glob.replace(/^(\.?\/)+/, '');
}

function hasSlash(glob: string): boolean {
  return glob.includes('/');
}

function matcherOf(glob: string): (path: string) => boolean {
  const matches = picomatch(glob, OPTIONS);
  if (hasSlash(glob)) return (path) => matches(path);
  return (path) => matches(path.slice(path.lastIndexOf('/') + 1));
}

/** What the name of a matching file has to match; `undefined` when that can't be told. */
function lastSegment(glob: string): string | undefined {
  const name = glob.slice(glob.lastIndexOf('/') + 1);
  const isWhole = !/[{[]/.test(glob.slice(0, glob.length - name.length));
  return isWhole && name !== '' && name !== '**' && !name.includes(':') ? name : undefined;
}
