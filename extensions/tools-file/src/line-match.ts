import { reindenter } from './reindent.js';
import type { Line } from './text-lines.js';

/** What was overlooked to find a text. */
export type Tolerance = 'line endings' | 'trailing whitespace' | 'indentation' | 'whitespace';

/** A stretch of lines that a search text stands for. */
export interface LineMatch {
  first: Line;
  last: Line;
  /** Gives a text the indentation that the file has here. */
  reindent: (text: string) => string;
}

interface Level {
  tolerance: Tolerance;
  normalise: (line: string) => string;
  keepsIndentation: boolean;
}

const LEVELS: readonly Level[] = [
  {
    tolerance: 'trailing whitespace',
    normalise: (line) => line.trimEnd(),
    keepsIndentation: true,
  },
  { tolerance: 'indentation', normalise: (line) => line.trim(), keepsIndentation: false },
  {
    tolerance: 'whitespace',
    normalise: (line) => line.trim().replace(/\s+/g, ' '),
    keepsIndentation: false,
  },
];

/** How many lines may be compared in vain, for each line there is, before the search gives up. */
const MAX_COMPARISONS_PER_LINE = 20;

/** How to look for a text that may be there more than once. */
export interface LineSearch {
  /** Matches that overlap one before them are passed over; otherwise they count. */
  skipOverlaps: boolean;
  /** Matches after which the search ends. */
  limit: number;
}

/**
 * Finds where whole lines equal the wanted ones, but for white space: first overlooking only what
 * ends a line, then indentation, then any. Where indentation is overlooked, it must differ from the
 * wanted one in the same way throughout, so that a block of another structure doesn't match.
 *
 * @returns the matches of the strictest level that has any
 */
export function matchLines(
  lines: readonly Line[],
  wanted: readonly string[],
  search: LineSearch,
): { tolerance: Tolerance; matches: LineMatch[] } | undefined {
  if (wanted.every((line) => line.trim() === '')) return undefined;
  for (const level of LEVELS) {
    const matches = matchesAt(level, { lines, wanted }, search);
    if (matches.length > 0) return { tolerance: level.tolerance, matches };
  }
  return undefined;
}

function matchesAt(
  { normalise, keepsIndentation }: Level,
  { lines, wanted }: { lines: readonly Line[]; wanted: readonly string[] },
  { skipOverlaps, limit }: LineSearch,
): LineMatch[] {
  // Joined, the engine's substring search finds where the lines start.
  const hay = `\n${lines.map(({ text }) => normalise(text)).join('\n')}\n`;
  const needle = `\n${wanted.map(normalise).join('\n')}\n`;
  const matches: LineMatch[] = [];
  let comparisons = lines.length * MAX_COMPARISONS_PER_LINE;
  let line = 0;
  let counted = 0;
  let step = 1;
  for (let at = hay.indexOf(needle); at !== -1; at = hay.indexOf(needle, at + step)) {
    for (; counted < at; counted += 1) if (hay[counted] === '\n') line += 1;
    const match = matchFrom(lines.slice(line, line + wanted.length), wanted, keepsIndentation);
    step = 1;
    if (match === undefined) {
      comparisons -= wanted.length;
      // What was found so far may not be all: better nothing than the wrong place.
      if (comparisons < 0) return [];
      continue;
    }
    if (matches.push(match) === limit) break;
    // The line break that ends this match may start the next.
    if (skipOverlaps) step = needle.length - 1;
  }
  return matches;
}

function matchFrom(
  found: readonly Line[],
  wanted: readonly string[],
  keepsIndentation: boolean,
): LineMatch | undefined {
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  if (keepsIndentation) return { first, last, reindent: (text) => text };
  const texts = found.map(({ text }) => text);
  const reindent = reindenter(wanted, texts);
  return reindent && { first, last, reindent };
}
