import { assertDeniable, compileDenySet } from './deny-floor.js';
import { isWithin, type PathSet } from './paths.js';
import type { FileIdentity } from './storage-guard.js';

/** For how many milliseconds the real paths of denied places are kept. */
const FRESH_MS = 5_000;

/** What is denied. Paths are absolute and normalised. */
export interface DenySet {
  /** The denied place that `path` is or is below. */
  covers(path: string): string | undefined;
  /** Whether a denied place is `path` or is below it. */
  isBelow(path: string): boolean;
  /** Whether a file is a denied one under another name. */
  hasInode(stat: FileIdentity): boolean;
}

/**
 * Denied places by their paths. Other names of a file (hard links) are not known.
 *
 * @param paths absolute files and folders, denied with all below them
 * @param realPathOf where a path leads, asked anew every few seconds, since a denied place may
 * become a link, or be made, at any time. Absent for a storage without links
 * @returns the set
 * @throws `CONFIG_INVALID` for a path that could deny nothing
 */
export function createDenySet(
  paths: readonly string[],
  realPathOf?: (path: string) => string,
): DenySet {
  const compile = () =>
    compileDenySet(realPathOf === undefined ? paths : [...paths, ...paths.map(realPathOf)]);
  for (const path of paths) assertDeniable(path);
  // It takes long to look up where a hundred places lead, so this waits until somebody asks.
  let known: PathSet | undefined;
  let knownAt = 0;
  const current = () => {
    const isStale = realPathOf !== undefined && performance.now() - knownAt > FRESH_MS;
    if (known === undefined || isStale) {
      known = compile();
      knownAt = performance.now();
    }
    return known;
  };
  return {
    covers: (path) => current().coversNormal(path),
    isBelow: (path) => current().roots.some((root) => isWithin(root, path)),
    hasInode: () => false,
  };
}
