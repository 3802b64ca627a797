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

/** Milliseconds for which the real paths and inodes of the denied places are believed. */
const FRESH_MS = 5_000;
/** Milliseconds by which a file's `ctime` may lag behind the clock. */
const CLOCK_GRAIN_MS = 50;
/** Entries of each denied place whose inodes are looked at, nearest to the top first. */
const MAX_ENTRIES = 10_000;

interface InodeScan {
  startedAtMs: number;
  /** `undefined`: there was more to look at than is looked at, so any linked file may be one. */
  inodes: ReadonlySet<number> | undefined;
}

/**
 * Denied places by the path given, by their real path and by inode. Real paths are looked up anew
 * every few seconds, so that a place that appears or becomes a link later is denied as well.
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
   * @param paths absolute files and folders, denied with all below them
   * @param maxEntries for each of them; where there are more, any file with several hard links is
   * taken for a denied one
   */
  constructor(paths: readonly string[], maxEntries = MAX_ENTRIES) {
    this.#maxEntries = maxEntries;
    this.#given = [...new Set(paths)];
    this.#set = compileDenySet(this.#given.map(fold));
  }

  covers(path: string): string | undefined {
    const set = this.#current();
    // A path is asked about as named, as opened and by each view: mostly the same one.
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
   * Whether a file with several hard links is one of the denied files under another name. Making
   * a link updates the file's `ctime`, so a scan that is younger than it knows every name.
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

// Names that differ in case or normalisation are one file on these systems. To fold where the
// disk does tell them apart denies a little more.
const FOLDS = process.platform === 'darwin' || process.platform === 'win32';

function fold(path: string): string {
  return FOLDS ? path.normalize('NFC').toLowerCase() : path;
}

/** As `realLocation`, for many paths below few folders of which most don't exist. */
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

/** @returns `undefined` when a root holds more entries than `maxEntries` */
function scanInodes(
  roots: readonly string[],
  dev: number,
  maxEntries: number,
): Set<number> | undefined {
  const inodes = new Set<number>();
  // Each has a share of its own: many small places together don't use up what one large may.
  for (const root of roots) {
    const queue = [root];
    let left = maxEntries;
    // A `for` over an array also visits what is pushed meanwhile: breadth first.
    for (const path of queue) {
      if (left === 0) return undefined;
      left -= 1;
      const stat = statOf(path);
      // A hard link never crosses file systems; that also keeps the scan out of /proc and /sys.
      if (stat === undefined || stat.dev !== dev) continue;
      // One more than may be looked at is enough to tell that there are too many.
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
