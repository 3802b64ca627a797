import type { Line } from './text-lines.js';
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
 * Finds the places where whole lines are the same as the wanted ones, except for blanks, blank
 * lines and the shape of quotes.
 */
export function findPlaces(
  lines: readonly Line[],
  wanted: readonly string[],
  { skipOverlaps, limit }: PlaceSearch,
): Place[] {
  const keys = wanted.map(lineKey).filter((key) => key !== '');
  if (keys.length === 0) return [];
  const full = lines.flatMap(({ text }, index) => {
    const key = lineKey(text);
    return key === '' ? [] : [{ key, index }];
  });
  // The lines are joined, so that the fast substring search of the engine finds where they start.
  const hay = `\n${full.map(({ key }) => key).join('\n')}\n`;
  const needle = `\n${keys.join('\n')}\n`;
  const places: Place[] = [];
  let line = 0;
  let counted = 0;
  // The line break at the end of a place may be the one at the start of the next.
  const step = skipOverlaps ? needle.length - 1 : 1;
  for (let at = hay.indexOf(needle); at !== -1; at = hay.indexOf(needle, at + step)) {
    for (; counted < at; counted += 1) if (hay[counted] === '\n') line += 1;
    const place = full.slice(line, line + keys.length).map(({ index }) => index);
    if (places.push(place) === limit) break;
  }
  return places;
}
