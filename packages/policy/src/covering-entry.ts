import { HostIndex } from './host-meets.js';
import { meetHostPatterns, parseHostPattern } from './hosts.js';
import { clean, isWithin, pathAndParents } from './paths.js';

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

/**
 * Compiles a list of host patterns, to find many patterns in it.
 *
 * @param entries host patterns; malformed ones cover nothing
 * @returns gives the place of the first entry that covers all that a pattern covers, or `undefined`
 */
export function compileCoveringHosts(
  entries: readonly string[],
): (pattern: string) => number | undefined {
  const parsed = entries.map(parseHostPattern);
  const places = placesOf(parsed.map((pattern) => pattern?.text));
  const index = new HostIndex(parsed.filter((pattern) => pattern !== null));
  return (pattern) => {
    const asked = parseHostPattern(pattern);
    return asked === null
      ? undefined
      : firstOf(index.covering(asked).map(({ text }) => places.get(text)));
  };
}

/**
 * Compiles a list of paths, to find many paths in it.
 *
 * @param entries absolute paths; others cover nothing
 * @returns gives the place of the first entry that a path equals or is below, or `undefined`
 */
export function compileCoveringPaths(
  entries: readonly string[],
): (path: string) => number | undefined {
  const places = placesOf(entries.map(clean));
  return (path) => {
    const asked = clean(path);
    return asked === undefined
      ? undefined
      : firstOf(pathAndParents(asked).map((each) => places.get(each)));
  };
}

/** The first place of each text in a list. */
function placesOf(texts: readonly (string | undefined)[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [place, text] of texts.entries()) {
    if (text !== undefined && !places.has(text)) places.set(text, place);
  }
  return places;
}

function firstOf(places: readonly (number | undefined)[]): number | undefined {
  const known = places.filter((place) => place !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
