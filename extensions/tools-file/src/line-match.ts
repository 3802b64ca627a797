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

/**
 * Finds where whole lines equal the wanted ones, but for white space: first overlooking only what
 * ends a line, then indentation, then any. Where indentation is overlooked, it must differ from the
 * wanted one in the same way throughout, so that a block of another structure doesn't match.
 *
 * @returns the matches of the strictest level that has any; overlapping ones count
 */
export function matchLines(
  lines: readonly Line[],
  wanted: readonly string[],
): { tolerance: Tolerance; matches: LineMatch[] } | undefined {
  if (wanted.every((line) => line.trim() === '')) return undefined;
  for (const { tolerance, normalise, keepsIndentation } of LEVELS) {
    const starts = startsOf(
      lines.map(({ text }) => normalise(text)),
      wanted.map(normalise),
    );
    const matches = starts.flatMap((start): LineMatch[] => {
      const found = lines.slice(start, start + wanted.length);
      const [first, last] = [found[0], found.at(-1)];
      if (first === undefined || last === undefined) return [];
      if (keepsIndentation) return [{ first, last, reindent: (text) => text }];
      const reindent = reindenter(
        wanted,
        found.map(({ text }) => text),
      );
      return reindent === undefined ? [] : [{ first, last, reindent }];
    });
    if (matches.length > 0) return { tolerance, matches };
  }
  return undefined;
}

/** The indexes at which a sequence of lines starts. Joined, the engine's substring search does it. */
function startsOf(lines: readonly string[], wanted: readonly string[]): number[] {
  const hay = `\n${lines.join('\n')}\n`;
  const needle = `\n${wanted.join('\n')}\n`;
  const starts: number[] = [];
  let line = 0;
  let counted = 0;
  for (let at = hay.indexOf(needle); at !== -1; at = hay.indexOf(needle, at + 1)) {
    for (; counted < at; counted += 1) if (hay[counted] === '\n') line += 1;
    starts.push(line);
  }
  return starts;
}
