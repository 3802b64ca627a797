import { dirname, isAbsolute, normalize, resolve, sep } from 'node:path';

/** Bytes that a path may have in UTF-8: Linux's `PATH_MAX` less the final NUL. */
export const MAX_PATH_BYTES = 4095;

const FEW_ROOTS = 6;

// An absolute path without empty segments, `.`, `..`, NUL characters and surrogates. One test of it
// takes a sixth of what Node's functions take, and nearly every path passes.
const PLAIN_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[^/\0\ud800-\udfff]+)+$/;
const PLAIN_CHARS = Math.floor(MAX_PATH_BYTES / 3);

/** A set of roots, compiled for many questions. */
export interface PathSet {
  /** The roots: normalised, sorted, without duplicates or roots below another. */
  readonly roots: readonly string[];
  /** The root that `path` equals or is below, or `undefined`. */
  covers(path: string): string | undefined;
  /** As `covers`, for a path that is known to be valid, absolute and normalised: faster. */
  coversNormal(path: string): string | undefined;
}

/**
 * Says why a string can't name a file, or `undefined` when it can.
 *
 * @param path absolute or relative
 * @returns the reason, which begins with `the path`
 */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'the path is empty';
  if (path.includes('\0')) return 'the path contains a NUL character';
  // A UTF-16 unit has at most three bytes of UTF-8, so short paths need not be measured.
  if (path.length * 3 > MAX_PATH_BYTES && Buffer.byteLength(path) > MAX_PATH_BYTES) {
    return `the path is longer than ${MAX_PATH_BYTES} bytes`;
  }
  if (/[\uD800-\uDFFF]/.test(path) && /\p{Surrogate}/u.test(path))
    return 'the path contains half of a surrogate pair';
  return undefined;
}

/**
 * `path` made absolute against `base`, without `.`, `..`, doubled or trailing separators.
 *
 * @param path absolute or relative
 * @param base an absolute folder; the working directory of the process when absent
 * @returns an absolute path
 */
export function normalizePath(path: string, base = process.cwd()): string {
  return isPlain(path) ? path : resolve(base, path);
}

/** Whether a path is valid, absolute and normalised, as far as a glance can tell. */
function isPlain(path: string): boolean {
  return sep === '/' && path.length <= PLAIN_CHARS && PLAIN_PATH.test(path);
}

/**
 * Whether `path` equals `root` or is below it, segment by segment: `/data` covers `/data/x` and
 * not `/database`. Both are normalised first. Lexical: links are the storage's business.
 *
 * @param path the path that is asked for
 * @param root the file or folder that covers it or not
 * @returns `false` where one of the two can't name a file
 */
export function isWithin(path: string, root: string): boolean {
  const top = clean(root);
  const asked = clean(path);
  return top !== undefined && asked !== undefined && isBelow(asked, top);
}

/**
 * The narrower of two paths of which one is within the other; `null` when neither is.
 *
 * @param a an absolute path
 * @param b an absolute path
 * @returns the narrower path
 */
export function meetPaths(a: string, b: string): string | null {
  const left = clean(a);
  const right = clean(b);
  if (left === undefined || right === undefined) return null;
  if (isBelow(left, right)) return left;
  return isBelow(right, left) ? right : null;
}

/**
 * What two lists of roots have in common: the meets of all pairs, as few roots as possible.
 *
 * @param a absolute paths
 * @param b absolute paths
 * @returns the common roots, none within another
 */
export function meetPathLists(a: readonly string[], b: readonly string[]): string[] {
  const left = cleanAll(a);
  const right = cleanAll(b);
  const [inLeft, inRight] = [lookUp(left), lookUp(right)];
  return minimal([
    ...left.filter((path) => inRight(path) !== undefined),
    ...right.filter((path) => inLeft(path) !== undefined),
  ]);
}

/** Two paths of which one is within the other, and the narrower of both. */
export interface PathMeet {
  readonly one: string;
  readonly other: string;
  readonly meet: string;
}

/**
 * The pairs of two lists in which one path is within the other. Each path looks only at the folders
 * above it.
 *
 * @param a absolute paths
 * @param b absolute paths
 * @returns each pair once, normalised
 */
export function pathMeets(a: readonly string[], b: readonly string[]): PathMeet[] {
  const left = new Set(cleanAll(a));
  const right = new Set(cleanAll(b));
  const meets: PathMeet[] = [];
  for (const one of left) {
    for (const other of pathAndParents(one))
      if (right.has(other)) meets.push({ one, other, meet: one });
  }
  for (const other of right) {
    for (const one of pathAndParents(other)) {
      if (one !== other && left.has(one)) meets.push({ one, other, meet: other });
    }
  }
  return meets;
}

/**
 * Compiles roots for many lookups. Roots that are relative or can't name a file cover nothing.
 *
 * @param roots absolute files and folders
 * @returns a set whose `covers` gives the root that a path is within, or `undefined`
 */
export function compilePathSet(roots: Iterable<string>): PathSet {
  const kept = minimal(cleanAll(roots));
  const coversNormal = kept.length > FEW_ROOTS ? lookUp(kept) : scan(kept);
  return {
    roots: kept,
    covers(path) {
      const asked = clean(path);
      return asked === undefined ? undefined : coversNormal(asked);
    },
    coversNormal,
  };
}

/**
 * Whether a tool or a personality may declare this path: absolute, no `.` or `..` segment.
 *
 * @param path as it is written in the declaration
 */
export function isDeclarablePath(path: string): boolean {
  return (
    pathProblem(path) === undefined &&
    isAbsolute(path) &&
    !path.split(/[/\\]/u).some((segment) => segment === '.' || segment === '..')
  );
}

/**
 * The roots that a call may reach: the declaration met with the personality's reach. A malformed
 * path on either side contributes nothing, and without a personality's reach nothing is reachable.
 *
 * @param declared the tool's list, or `from-personality` for all that the personality reaches
 * @param personality the personality's list
 * @returns absolute paths, none within another
 */
export function resolveReach(
  declared: readonly string[] | 'from-personality' | undefined,
  personality: readonly string[] | undefined,
): string[] {
  if (declared === undefined || personality === undefined) return [];
  const allowed = personality.filter(isDeclarablePath);
  const wanted = declared === 'from-personality' ? allowed : declared.filter(isDeclarablePath);
  return meetPathLists(wanted, allowed);
}

/** The one spelling of an absolute path; `undefined` for a path that can't name a file. */
export function clean(path: string): string | undefined {
  if (isPlain(path)) return path;
  if (!isAbsolute(path) || pathProblem(path) !== undefined) return undefined;
  const normal = normalize(path);
  // A trailing separator stays only if it belongs to the root: `/`, or `C:\` on Windows.
  return normal.endsWith(sep) ? resolve(normal) : normal;
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(belowOf(root));
}

/** The prefix of every path below a root. */
function belowOf(root: string): string {
  return root.endsWith(sep) ? root : root + sep;
}

function scan(roots: readonly string[]): PathSet['coversNormal'] {
  const prefixes = roots.map((root) => ({ root, below: belowOf(root) }));
  return (path) => {
    for (const { root, below } of prefixes) {
      if (path === root || path.startsWith(below)) return root;
    }
    return undefined;
  };
}

/**
 * Looks up a path and its ancestors. So the cost grows with the depth of the path, not with the
 * number of roots.
 */
function lookUp(roots: readonly string[]): PathSet['coversNormal'] {
  const set = new Set(roots);
  return (path) => {
    for (let at = path, last = ''; at !== last; last = at, at = dirname(at)) {
      if (set.has(at)) return at;
    }
    return undefined;
  };
}

/**
 * A path and all folders above it, up to the root.
 *
 * @param path as `normalizePath` gives it
 * @returns the path first, the root last
 */
export function pathAndParents(path: string): string[] {
  const paths: string[] = [];
  for (let at = path, last = ''; at !== last; last = at, at = dirname(at)) paths.push(at);
  return paths;
}

function cleanAll(paths: Iterable<string>): string[] {
  return [...paths].flatMap((path) => clean(path) ?? []);
}

function minimal(paths: readonly string[]): string[] {
  // With one separator at the end of each key, the paths below a root are sorted directly behind
  // it.
  const keyed = [...new Set(paths)].map((path) => ({ path, key: belowOf(path) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  const kept: string[] = [];
  for (const { path } of keyed) {
    const last = kept.at(-1);
    if (last === undefined || !isBelow(path, last)) kept.push(path);
  }
  return kept;
}
