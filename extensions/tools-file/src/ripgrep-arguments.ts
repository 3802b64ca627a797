import { type FileGlobs, globBelow } from './file-globs.js';

const NAMES_TYPE = 'wanted';

/** What to search for. */
export interface SearchQuery {
  /** A regular expression of Rust's `regex`, or a plain text. Absent to search for names only. */
  pattern?: string | undefined;
  fixedString: boolean;
  case: 'smart' | 'sensitive' | 'insensitive';
  globs: FileGlobs;
  /** One of ripgrep's file types, e.g. `ts`. */
  fileType?: string | undefined;
  hidden: boolean;
  includeIgnored: boolean;
}

/** Where to search. */
export interface SearchPlace {
  /**
   * The folder that ripgrep runs in. Absent when a single file is searched, by its absolute path.
   */
  cwd?: string;
  /** The file or folder to search, relative to `cwd`, with `/` between segments. */
  target: string;
  /** The ignore files above the target that also count, relative to `cwd`. */
  ignoreFiles: readonly string[];
}

// The attack: a value such as `--pre=sh` from the model. Each value is joined to its option by `=`, so it
// can not become an option itself.

/** Returns the options of ripgrep that say what matches in a line. */
export function patternArguments(query: SearchQuery): string[] {
  if (query.pattern === undefined) return [];
  return [
    { smart: '--smart-case', sensitive: '--case-sensitive', insensitive: '--ignore-case' }[
      query.case
    ],
    ...(query.fixedString ? ['--fixed-strings'] : []),
    `--regexp=${query.pattern}`,
  ];
}

/**
 * Returns the options of ripgrep that say which files are searched. Ignore files count even without
 * a repository. Those of parent folders, of the user and of the repository itself do not count. A
 * limit: ripgrep opens those below the target itself, and follows a link of such a name.
 *
 * @param place where to search, and the ignore files above it that also count
 */
export function filterArguments(
  query: SearchQuery,
  { target, ignoreFiles }: Pick<SearchPlace, 'target' | 'ignoreFiles'>,
): string[] {
  const { nameGlobs, excluded } = query.globs;
  // ripgrep searches the union of all types, so a type that we add would widen the requested one.
  const types =
    query.fileType === undefined
      ? nameGlobs.map((glob) => `--type-add=${NAMES_TYPE}:${glob}`)
      : [`--type=${query.fileType}`];
  return [
    '--no-follow',
    '--no-require-git',
    '--no-ignore-global',
    '--no-ignore-parent',
    '--no-ignore-exclude',
    ...types,
    ...(query.fileType === undefined && nameGlobs.length > 0 ? [`--type=${NAMES_TYPE}`] : []),
    ...excluded.map((glob) => `--glob=!${globBelow(target, glob)}`),
    ...(query.hidden ? ['--hidden', '--glob=!.git'] : []),
    ...(query.includeIgnored
      ? ['--no-ignore']
      : ignoreFiles.map((path) => `--ignore-file=${path}`)),
  ];
}

/**
 * Returns the options of ripgrep that keep only files that match a glob. The list is empty when
 * `filterArguments` already does that. `--glob` overrides ignore files, so a file must also pass
 * that filter.
 */
export function globArguments(
  { globs, fileType }: SearchQuery,
  { target }: Pick<SearchPlace, 'target'>,
): string[] {
  if (globs.isNarrowed && fileType === undefined) return [];
  return globs.included.map((glob) => `--glob=${globBelow(target, glob)}`);
}
