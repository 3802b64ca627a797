/** Globs for ripgrep. This process never matches them, so a hostile glob can't block it. */
export interface FileGlobs {
  /** The name of a file must match one of these. Empty when no such list can be derived. */
  readonly nameGlobs: readonly string[];
  /** Which files to search, by path below the root of the search. Empty for all files. */
  readonly included: readonly string[];
  /** Which files to leave out, by path below the root of the search. */
  readonly excluded: readonly string[];
  /** Whether `nameGlobs` alone chooses the same files as `included`. */
  readonly isNarrowed: boolean;
}

/**
 * Sorts globs. A glob without `/` matches the name of a file. A glob with `/` matches the path from
 * the root of the search. With a leading `!`, matching files are left out, and matching folders
 * with everything below them.
 */
export function compileGlobs(globs: readonly string[]): FileGlobs {
  const included = globs
    .filter((glob) => !glob.startsWith('!'))
    .map(fromRoot)
    .map((glob) => (glob === '' || glob.endsWith('/') ? `${glob}**` : glob));
  const excluded = globs
    .filter((glob) => glob.startsWith('!'))
    .map((glob) => fromRoot(glob.slice(1)).replace(/(?<!\/)\/+$/, ''))
    .filter((glob) => glob !== '');
  const nameGlobs = included.map(lastSegment);
  const canNarrow = nameGlobs.every((glob) => glob !== undefined);
  return {
    nameGlobs: canNarrow ? nameGlobs.filter((glob) => glob !== undefined) : [],
    included,
    excluded,
    isNarrowed: canNarrow && !included.some(hasSlash),
  };
}

/**
 * Turns a glob into a value for `--glob` of ripgrep, which reads it like a line of an ignore file
 * in the folder where it runs.
 *
 * @param root the root of the search, relative to the folder where ripgrep runs, with `/` between
 *   segments
 */
export function globBelow(root: string, glob: string): string {
  // Without a class around it, a space at the end of a line is dropped.
  const whole = glob.replace(/(?<!\\)\s$/, '[$&]');
  if (!hasSlash(whole)) return `**/${whole}`;
  return root === '.' ? `/${whole}` : `/${root.replace(/[*?[\]{}\\]/g, '[$&]')}/${whole}`;
}

function fromRoot(glob: string): string {
  return glob.replace(/^(\.?\/)+/, '');
}

function hasSlash(glob: string): boolean {
  return glob.includes('/');
}

/** Returns a glob for the file name alone; `undefined` when it can't be derived. */
function lastSegment(glob: string): string | undefined {
  const name = glob.slice(glob.lastIndexOf('/') + 1);
  const isWhole = !/[{[]/.test(glob.slice(0, glob.length - name.length));
  return isWhole && name !== '' && name !== '**' && !name.includes(':') ? name : undefined;
}
