import { meetHostPatterns, parseHostPattern } from './hosts.js';
import { isWithin } from './paths.js';

/**
 * The place of the entry in a list of host patterns that covers all that `pattern` covers. An entry
 * that means the same comes first, else the first wider one.
 *
 * @param entries host patterns
 * @param pattern the host pattern to cover
 * @returns an index, or `undefined` where no single entry covers it
 */
export function coveringHostEntry(entries: readonly string[], pattern: string): number | undefined {
  const asked = parseHostPattern(pattern);
  if (asked === null) return undefined;
  let wider: number | undefined;
  for (const [index, entry] of entries.entries()) {
    const parsed = parseHostPattern(entry);
    if (parsed === null) continue;
    if (parsed.text === asked.text) return index;
    if (wider === undefined && meetHostPatterns(parsed, asked)?.text === asked.text) wider = index;
  }
  return wider;
}

/**
 * The place of the deepest entry in a list of paths that `path` equals or is below.
 *
 * @param entries absolute paths
 * @param path the absolute path to cover
 * @returns an index, or `undefined` where no entry covers it
 */
export function coveringPathEntry(entries: readonly string[], path: string): number | undefined {
  let found: number | undefined;
  for (const [index, entry] of entries.entries()) {
    if (!isWithin(path, entry)) continue;
    // If two entries cover a path, one of them is within the other.
    const deepest = found === undefined ? undefined : entries[found];
    if (deepest === undefined || (isWithin(entry, deepest) && !isWithin(deepest, entry))) {
      found = index;
    }
  }
  return found;
}
