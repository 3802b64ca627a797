import { normalizePath, pathAndParents } from '@ethosagent/policy';

/**
 * Paths, and all folders above them. With this set, one look-up says whether a folder holds any of the
 * paths.
 *
 * @param paths absolute paths
 * @returns normalised paths
 */
export function withParents(paths: Iterable<string>): ReadonlySet<string> {
  return new Set([...paths].flatMap((path) => pathAndParents(normalizePath(path))));
}
