import { diffArrays } from 'diff';
import type { FileStyle } from './file-style.js';
import type { Place } from './find-places.js';
import { fitBodies } from './fit-body.js';
import { type Fitting, fitIndentation } from './fit-indentation.js';
import type { Line } from './text-lines.js';
import { type WrittenLine, writtenLine } from './written-line.js';

/**
 * When more lines than this are changed, the replacement is not searched for lines that it keeps.
 */
const MAX_CHANGED = 400;

/**
 * A text as lines: those that are not blank, and the blank lines before each of them and at the
 * end.
 */
interface Spaced {
  lines: WrittenLine[];
  gaps: string[][];
}

/** A line of the result. It has the line of the file that it repeats, if it repeats one. */
export interface FittedLine {
  text: string;
  of?: Line;
}

/** The new lines of a place, and where the place starts and ends in the file. */
export interface Fitted {
  first: Line;
  last: Line;
  result: FittedLine[];
}

/**
 * Fits a replacement into the place of the search text. Lines that it keeps stay as they are in the
 * file. New lines get the file's indentation, without the errors of the search text.
 *
 * @returns the fitted lines; `undefined` when there is more than one way to read the replacement
 */
export function fitReplacement(
  file: readonly Line[],
  place: Place,
  {
    wanted,
    given,
    style,
  }: { wanted: readonly string[]; given: readonly string[]; style: FileStyle },
): Fitted | undefined {
  const search = spaced(wanted);
  const replace = spaced(given);
  const found = place.flatMap((index) => file[index] ?? []);
  const isExact = search.lines.every(({ text }, at) => text === found[at]?.text);
  const none = isExact ? replace.lines.map(() => undefined) : undefined;
  const kept = keptLines(search.lines, replace.lines) ?? none;
  if (kept === undefined) return undefined;
  const fitting: Fitting = {
    lines: search.lines.flatMap((line, at) => {
      const there = found[at];
      return there === undefined ? [] : [{ wanted: line, found: writtenLine(there.text) }];
    }),
    given: replace.lines,
    kept,
    before: neighbour(file, place[0] ?? 0, -1),
    after: neighbour(file, place.at(-1) ?? 0, 1),
    style,
  };
  const indents = fitIndentation(fitting);
  const bodies = fitBodies(fitting);
  const fileGaps = gapsOf(file, place, search.gaps);
  const gaps = fitGaps({ search: search.gaps, file: fileGaps, replace: replace.gaps, kept });
  if (indents === undefined || bodies === undefined || gaps === undefined) return undefined;
  const result = gaps.flatMap((gap, at): FittedLine[] => {
    const line = kept[at];
    const text = (indents[at] ?? '') + (bodies[at] ?? '');
    if (at === replace.lines.length) return gap;
    const pair = line === undefined ? undefined : fitting.lines[line];
    if (line === undefined || pair === undefined) return [...gap, { text }];
    const of = found[line];
    // What the search text has exactly as in the file is changed where the replacement differs: a
    // whole line, or a line without its indentation.
    const isExact = pair.wanted.text === pair.found.text;
    const body = pair.wanted.body === pair.found.body ? bodies[at] : pair.found.body;
    const fitted = isExact ? text : (indents[at] ?? '') + (body ?? '');
    return [...gap, fitted === of?.text ? { text: fitted, of } : { text: fitted }];
  });
  const [first, last] = [fileGaps[0]?.[0] ?? found[0], fileGaps.at(-1)?.at(-1) ?? found.at(-1)];
  return first === undefined || last === undefined ? undefined : { first, last, result };
}

function neighbour(file: readonly Line[], index: number, step: 1 | -1): WrittenLine | undefined {
  for (let at = index + step; at >= 0 && at < file.length; at += step) {
    const line = writtenLine(file[at]?.text ?? '');
    if (line.key !== '') return line;
  }
  return undefined;
}

function spaced(texts: readonly string[]): Spaced {
  const lines: WrittenLine[] = [];
  const gaps: string[][] = [[]];
  for (const text of texts) {
    const line = writtenLine(text);
    if (line.key === '') {
      gaps.at(-1)?.push(text);
      continue;
    }
    lines.push(line);
    gaps.push([]);
  }
  return { lines, gaps };
}

/**
 * Returns the blank lines of the file around the lines of a place. Before and after the place, it
 * takes no more than the search text has.
 */
function gapsOf(file: readonly Line[], place: Place, search: readonly string[][]): Line[][] {
  const [first = 0, last = 0] = [place[0], place.at(-1)];
  const isBlank = (index: number) => file[index]?.text.trim() === '';
  let before = first;
  while (first - before < (search[0]?.length ?? 0) && isBlank(before - 1)) before -= 1;
  let after = last + 1;
  while (after - last - 1 < (search.at(-1)?.length ?? 0) && isBlank(after)) after += 1;
  const inner = place.slice(1).map((index, at) => file.slice((place[at] ?? 0) + 1, index));
  return [file.slice(before, first), ...inner, file.slice(last + 1, after)];
}

/** Finds for each line of the replacement the line of the search text that it keeps. */
function keptLines(
  search: readonly WrittenLine[],
  replace: readonly WrittenLine[],
): (number | undefined)[] | undefined {
  const changes = diffArrays(
    search.map(({ key }) => key),
    replace.map(({ key }) => key),
    { maxEditLength: MAX_CHANGED },
  );
  if (changes === undefined) return undefined;
  const kept: (number | undefined)[] = [];
  let from = 0;
  for (const { added, removed, count = 0 } of changes) {
    for (let at = 0; at < count; at += 1) {
      if (added) kept.push(undefined);
      else if (!removed) kept.push(from + at);
    }
    if (!added) from += count;
  }
  return kept;
}

interface Gaps {
  search: readonly string[][];
  file: readonly Line[][];
  replace: readonly string[][];
  kept: readonly (number | undefined)[];
}

/**
 * Returns the blank lines of the result. Between lines that stay neighbours, those of the file
 * stay.
 */
function fitGaps({ search, file, replace, kept }: Gaps): FittedLine[][] | undefined {
  const isOff = search.some((gap, at) => gap.length !== file[at]?.length);
  /**
   * Finds the gap of the search text that a gap of the replacement repeats, if the lines around it
   * stay.
   */
  const sameGap = (at: number) => {
    const before = at === 0 ? -1 : kept[at - 1];
    const after = at === kept.length ? search.length - 1 : kept[at];
    return before !== undefined && after === before + 1 ? after : undefined;
  };
  let [asFile, asSearch] = [0, 0];
  const lacks = search.some((gap, at) => gap.length < (file[at]?.length ?? 0));
  const own: (FittedLine[] | undefined)[] = [];
  for (const [at, gap] of replace.entries()) {
    const same = sameGap(at);
    const there = same === undefined ? undefined : file[same];
    const sought = same === undefined ? 0 : (search[same]?.length ?? 0);
    if (there !== undefined && isOff) {
      if (gap.length !== sought && gap.length !== there.length) return undefined;
      if (sought === there.length && gap.length !== sought) return undefined;
      if (sought !== there.length && gap.length === there.length) asFile += 1;
      else if (sought !== there.length) asSearch += 1;
    }
    const stays = there !== undefined && (isOff || gap.length === sought);
    own.push(stays ? there.map((of) => ({ text: of.text, of })) : undefined);
  }
  if (asFile > 0 && asSearch > 0) return undefined;
  const isClear = (gap: readonly string[]) => !isOff || (lacks ? asFile > 0 : gap.length === 0);
  const fitted: FittedLine[][] = [];
  for (const [at, gap] of replace.entries()) {
    const kept = own[at];
    if (kept === undefined && !isClear(gap)) return undefined;
    fitted.push(kept ?? gap.map((text) => ({ text })));
  }
  return fitted;
}
