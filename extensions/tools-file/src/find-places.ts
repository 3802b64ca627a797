import type { FileLine } from './file-line.js';
import type { PatchedText } from './patched-text.js';
import { lineKey } from './written-line.js';

/**
 * A place that a search text may mean: the indexes of those of its lines that are not blank, in
 * order.
 */
export type Place = readonly number[];

/** How to search for a text that may be there more than once. */
export interface PlaceSearch {
  /** Whether to skip a place that overlaps an earlier one. */
  skipOverlaps: boolean;
  /** The search stops after this many places. */
  limit: number;
}

/**
 * When a line of the wanted text is in the file at most so often, each of its places is looked at.
 */
const FEW = 32;

/**
 * Finds the places where whole lines are the same as the wanted ones, except for blanks, blank
 * lines and the shape of quotes.
 */
export function findPlaces(
  file: PatchedText,
  wanted: readonly string[],
  search: PlaceSearch,
): Place[] {
  const keys = wanted.map(lineKey).filter((key) => key !== '');
  if (keys.length === 0) return [];
  const { lines, linesByKey } = file;
  const rarest = linesByKey && rarestOf(keys, linesByKey);
  if (rarest === undefined) return findInAll(lines, keys, search);
  const indexes = rarest.lines.map((line) => file.indexOf(line)).sort((a, b) => a - b);
  return findAround(lines, keys, { at: rarest.at, indexes, ...search });
}

/** The wanted line that is in the file the least often; `undefined` if each is there more often. */
function rarestOf(
  keys: readonly string[],
  linesByKey: ReadonlyMap<string, ReadonlySet<FileLine>>,
): { at: number; lines: FileLine[] } | undefined {
  let [rarest, fewest] = [0, FEW + 1];
  for (const [at, key] of keys.entries()) {
    const size = linesByKey.get(key)?.size ?? 0;
    if (size < fewest) [rarest, fewest] = [at, size];
  }
  if (fewest > FEW) return undefined;
  return { at: rarest, lines: [...(linesByKey.get(keys[rarest] ?? '') ?? [])] };
}

/** Looks at the places where one of the wanted lines is. */
function findAround(
  lines: readonly FileLine[],
  keys: readonly string[],
  { at, indexes, skipOverlaps, limit }: PlaceSearch & { at: number; indexes: readonly number[] },
): Place[] {
  const places: Place[] = [];
  let end = -1;
  for (const index of indexes) {
    const place = placeAround(lines, keys, { at, index });
    if (place === undefined || (skipOverlaps && (place[0] ?? 0) <= end)) continue;
    end = place.at(-1) ?? 0;
    if (places.push(place) === limit) break;
  }
  return places;
}

/** The place that has a wanted line at an index, if the lines around it are wanted, too. */
function placeAround(
  lines: readonly FileLine[],
  keys: readonly string[],
  { at, index }: { at: number; index: number },
): Place | undefined {
  const before = walk(lines, keys.slice(0, at).toReversed(), { index, step: -1 });
  const after = walk(lines, keys.slice(at + 1), { index, step: 1 });
  return before && after && [...before.reverse(), index, ...after];
}

/** The indexes of the next lines that are not blank, if they have these keys. */
function walk(
  lines: readonly FileLine[],
  keys: readonly string[],
  { index, step }: { index: number; step: 1 | -1 },
): number[] | undefined {
  const found: number[] = [];
  let at = index;
  for (const key of keys) {
    do at += step;
    while (lines[at]?.key === '');
    if (lines[at]?.key !== key) return undefined;
    found.push(at);
  }
  return found;
}

/** Looks at all lines of the file. */
function findInAll(
  lines: readonly FileLine[],
  keys: readonly string[],
  { skipOverlaps, limit }: PlaceSearch,
): Place[] {
  const full: number[] = [];
  const fullKeys: string[] = [];
  for (const [index, { key }] of lines.entries()) {
    if (key === '') continue;
    full.push(index);
    fullKeys.push(key);
  }
  // The lines are joined, so that the fast substring search of the engine finds where they start.
  const hay = `\n${fullKeys.join('\n')}\n`;
  const needle = `\n${keys.join('\n')}\n`;
  const places: Place[] = [];
  let line = 0;
  let newline = 0;
  // The line break at the end of a place may be the one at the start of the next.
  const step = skipOverlaps ? needle.length - 1 : 1;
  for (let at = hay.indexOf(needle); at !== -1; at = hay.indexOf(needle, at + step)) {
    for (; newline < at; newline = hay.indexOf('\n', newline + 1)) line += 1;
    if (places.push(full.slice(line, line + keys.length)) === limit) break;
  }
  return places;
}
