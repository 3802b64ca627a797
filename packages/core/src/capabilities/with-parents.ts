import { dirname } from 'node:path';
import { normalizePath } from '@ethosagent/policy';

/**
 * Paths, and all folders that they are in: whether any of many paths is within a folder is one look-up.
 *
 * @param paths absolute paths
 * @returns normalised paths
 */
export function withParents(paths: Iterable<string>): ReadonlySet<string> {
  const all = new Set<string>();
  for (const path of paths) {
    for (let at = normalizePath(path); !all.has(at); at = dirname(at)) all.add(at);
  }
  return all;
}
