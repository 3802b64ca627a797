/** Globs for ripgrep. They are never matched in this process, so a hostile glob can not block it. */
export interface FileGlobs {
  /** The name of a file must match one of these globs; empty when no such list can be derived. */
  readonly nameGlobs: readonly string[];
  /** What to look for, below the root of the search; empty for any file. */
  readonly included: readonly string[];
  /** What to leave out, below the root of the search. */
  readonly excluded: readonly string[];
  /** `nameGlobs` says all that `included` does. */
  readonly isNarrowed: boolean;
}

/**
 * Sorts globs. A glob without `/` is for the name of a file. A glob with `/` is for the path from the
 * root of the search. A leading `!` leaves out what matches; a folder with everything below it.
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
 * A glob as `--glob` of ripgrep takes it: as a line of an ignore file in the folder it runs in.
 *
 * @param root of the search, relative to that folder, with `/` between segments
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

/** The glob for the file name alone; `undefined` when it can't be derived. */
function lastSegment(glob: string): string | undefined {
  const name = glob.slice(glob.lastIndexOf('/') + 1);
  const isWhole = !/[{[]/.test(glob.slice(0, glob.length - name.length));
  return isWhole && name !== '' && name !== '**' && !name.includes(':') ? name : undefined;
}
