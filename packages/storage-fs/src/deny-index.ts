import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  compileDenySet,
  type DenySet,
  type FileIdentity,
  isWithin,
  type PathSet,
} from '@ethosagent/policy';
import { followLinks } from './follow-links.js';

/** The milliseconds for which the real paths and inodes of denied places are kept. */
const FRESH_MS = 5_000;
/** The milliseconds by which the `ctime` of a file may be behind the clock. */
const CLOCK_GRAIN_MS = 50;
/** The number of entries of each denied place whose inodes are checked, the upper levels first. */
const MAX_ENTRIES = 10_000;

interface InodeScan {
  startedAtMs: number;
  /**
   * `undefined` if there were too many entries. Then any file with several links may be a denied
   * one.
   */
  inodes: ReadonlySet<number> | undefined;
}

/**
 * Denied places by the given path, by their real path and by inode. Real paths are looked up again
 * every few seconds, so that a place that is created later, or becomes a link, is denied as well.
 */
export class DenyIndex implements DenySet {
  readonly #given: readonly string[];
  readonly #maxEntries: number;
  #set: PathSet;
  #lookedUpAtMs = Number.NEGATIVE_INFINITY;
  #lastPath: string | undefined;
  #lastRoot: string | undefined;
  readonly #scans = new Map<number, InodeScan>();

  /**
   * Compiles the denied places.
   *
   * @param paths the absolute paths of files and folders; each is denied with everything below it
   * @param maxEntries the most entries of each path; if there are more, any file with several hard
   * links counts as denied
   */
  constructor(paths: readonly string[], maxEntries = MAX_ENTRIES) {
    this.#maxEntries = maxEntries;
    this.#given = [...new Set(paths)];
    this.#set = compileDenySet(this.#given.map(fold));
  }

  covers(path: string): string | undefined {
    const set = this.#current();
    // A path is checked as it was named, as it was opened and by each view. Mostly it is the same
    // path.
    if (path !== this.#lastPath) {
      this.#lastPath = path;
      this.#lastRoot = set.coversNormal(fold(path));
    }
    return this.#lastRoot;
  }

  isBelow(path: string): boolean {
    const top = fold(path);
    return this.#current().roots.some((root) => isWithin(root, top));
  }

  /**
   * Whether a file with several hard links is one of the denied files under another name.
   *
   * The invariant: a new link updates the `ctime` of the file. So a scan that began after the
   * `ctime` knows every name of the file.
   */
  hasInode(stat: FileIdentity): boolean {
    if (stat.nlink < 2 || stat.isDirectory()) return false;
    const now = Date.now();
    let scan = this.#scans.get(stat.dev);
    const isStale =
      scan === undefined ||
      now - scan.startedAtMs > FRESH_MS ||
      now < scan.startedAtMs ||
      stat.ctimeMs + CLOCK_GRAIN_MS >= scan.startedAtMs;
    if (scan === undefined || isStale) {
      const inodes = scanInodes(this.#current().roots, stat.dev, this.#maxEntries);
      scan = { startedAtMs: now, inodes };
      this.#scans.set(stat.dev, scan);
    }
    return scan.inodes?.has(stat.ino) ?? true;
  }

  #current(): PathSet {
    const now = Date.now();
    const age = now - this.#lookedUpAtMs;
    if (age > FRESH_MS || age < 0) {
      const known = new Map<string, string>();
      const real = this.#given.map((path) => realOf(path, known));
      this.#set = compileDenySet([...this.#given, ...real].map(fold));
      this.#lookedUpAtMs = now;
      this.#lastPath = undefined;
    }
    return this.#set;
  }
}

// On these systems, names that differ in case or normalisation are one file. If a disk does keep
// them apart, this denies a little more than necessary.
const FOLDS = process.platform === 'darwin' || process.platform === 'win32';

function fold(path: string): string {
  return FOLDS ? path.normalize('NFC').toLowerCase() : path;
}

/**
 * Does the same as `realLocation`, for many paths below a few folders. Most of them don't exist.
 */
function realOf(path: string, known: Map<string, string>): string {
  const before = known.get(path);
  if (before !== undefined) return before;
  const parent = dirname(path);
  let real = path;
  if (parent !== path) {
    real = join(realOf(parent, known), basename(path));
    if (statOf(real)?.isSymbolicLink()) real = followLinks(real) ?? real;
  }
  known.set(path, real);
  return real;
}

/**
 * Returns the inodes of everything below the roots, on one device.
 * @returns `undefined` if a root holds more entries than `maxEntries`
 */
function scanInodes(
  roots: readonly string[],
  dev: number,
  maxEntries: number,
): Set<number> | undefined {
  const inodes = new Set<number>();
  // Each root has its own limit, so that many small places don't use up what one large place needs.
  for (const root of roots) {
    const queue = [root];
    let left = maxEntries;
    // A `for` over an array also visits elements that are added meanwhile, so this goes through the
    // tree level by level.
    for (const path of queue) {
      if (left === 0) return undefined;
      left -= 1;
      const stat = statOf(path);
      // A hard link never leaves its file system. This check also keeps the scan out of /proc and
      // /sys.
      if (stat === undefined || stat.dev !== dev) continue;
      // One entry more than the limit shows that there are too many.
      if (stat.isDirectory()) queue.push(...childrenOf(path).slice(0, left + 1));
      else if (stat.nlink > 1) inodes.add(stat.ino);
    }
  }
  return inodes;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function childrenOf(path: string): string[] {
  try {
    return readdirSync(path).map((name) => join(path, name));
  } catch {
    return [];
  }
}
