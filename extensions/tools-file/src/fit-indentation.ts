import type { FileStyle } from './file-style.js';
import { explainingMaps, type IndentExample, type IndentMap } from './indent-maps.js';
import { closesBlock, isPlausible, type LaidLine } from './plausible-layout.js';
import type { WrittenLine } from './written-line.js';

/** A line of the file, and the line of the search text that means it. */
export interface FoundLine {
  wanted: WrittenLine;
  found: WrittenLine;
}

/** What to fit: the lines of the file, the lines of the replacement, and which of them are kept. */
export interface Fitting {
  lines: readonly FoundLine[];
  given: readonly WrittenLine[];
  /** For each line of the replacement: the line of the search text that it repeats, if any. */
  kept: ReadonlyArray<number | undefined>;
  /** The lines of the file before and after the place that are not blank. */
  before: WrittenLine | undefined;
  after: WrittenLine | undefined;
  style: FileStyle;
}

/** A line whose column depends on the lines around it. */
const DEPENDS =
  /[{([,:=\\&|?+]$|^[})\].?:&|*+<>-]|^\d+\.|^(?:else|elif|except|finally|case|default|end)\b/;

/**
 * Works out the indentation of each line of a replacement. The written indentation is right, or it
 * is wrong in the same way as that of the search text. The lines that the replacement keeps show
 * which.
 *
 * @returns one indentation for each line; `undefined` when both are possible, or when the
 *   replacement has lost its indentation
 */
export function fitIndentation(fitting: Fitting): string[] | undefined {
  const { lines, given } = fitting;
  const written = given.map(({ indent }) => indent);
  const isOff = lines.some(({ wanted, found }) => wanted.indent !== found.indent);
  // Wrong indentation in the replacement alone is not repaired: it may be intended.
  if (!isOff) return isDamaged(fitting) || !isLaidOutWell(fitting, written) ? undefined : written;
  const examples = lines.map(({ wanted, found }): IndentExample => [wanted.indent, found.indent]);
  const readings = explainingMaps(examples).flatMap((map) => read(fitting, map));
  const first = firstLineReading(fitting);
  if (first !== undefined) readings.push(first);
  const chosen = agreed(
    fitting,
    [...readings, ...(isInOtherColumns(fitting) ? [] : [written])].filter((reading) =>
      isLaidOutWell(fitting, reading),
    ),
  );
  if (chosen === undefined) return undefined;
  const isRead = readings.some((reading) => isSame(reading, chosen));
  if (!isRead && !showsItself(fitting)) return undefined;
  // The structure of the block differs, and no line shows that the replacement is right.
  const isFlatSearch = lines.every(({ wanted }) => wanted.indent === '');
  const keepsSome = fitting.kept.some((line) => line !== undefined);
  if (readings.length === 0 && !isFlatSearch && !keepsSome) return undefined;
  const isFlat = isFlatSearch && written.every((one) => one === '');
  return isFlat && !isSurelyFlat(fitting) ? undefined : chosen;
}

/**
 * Whether a line of the replacement has the file's indentation where the search text has another.
 */
function showsItself({ lines, given, kept }: Fitting): boolean {
  const has = (line: FoundLine | undefined, at: number) =>
    line !== undefined &&
    line.wanted.indent !== line.found.indent &&
    given.at(at)?.indent === line.found.indent;
  if (kept.some((line) => line !== undefined)) {
    return kept.some((line, at) => line !== undefined && has(lines[line], at));
  }
  return given.length === 0 || has(lines[0], 0) || has(lines.at(-1), -1);
}

/** Whether the replacement has the indentation of the search text, and not that of the file. */
function isInOtherColumns({ lines, given }: Fitting): boolean {
  const wanted = new Set(lines.map((line) => line.wanted.indent));
  const found = new Set(lines.map((line) => line.found.indent));
  return (
    given.every(({ indent }) => wanted.has(indent)) &&
    given.some(({ indent }) => !found.has(indent))
  );
}

function isLaidOutWell(fitting: Fitting, reading: readonly string[]): boolean {
  const { lines, given, kept, before, after, style } = fitting;
  const inside = given.map(({ key }, at): LaidLine => {
    const indent = reading[at] ?? '';
    const line = kept[at];
    const stays = line !== undefined && lines[line]?.found.indent === indent;
    return { indent, key, ...(stays && { keptAt: line }) };
  });
  // If the first and the last line keep their columns, the block fits its neighbours as before.
  const [first] = lines;
  const closes = closesBlock(given[0]?.key ?? '') !== closesBlock(first?.found.key ?? '');
  const beginsWell = given.length === 0 || (reading[0] === first?.found.indent && !closes);
  const previous: LaidLine = { indent: '', key: ';', ...before, keptAt: -1 };
  const endsWell = reading.at(-1) === lines.at(-1)?.found.indent;
  const next = after === undefined || endsWell ? [] : [{ ...after, keptAt: lines.length }];
  return isPlausible([...(beginsWell ? [] : [previous]), ...inside, ...next], style);
}

function read({ given }: Fitting, map: IndentMap): string[][] {
  const result: string[] = [];
  for (const { indent } of given) {
    const actual = map(indent);
    if (actual === undefined) return [];
    result.push(actual);
  }
  return [result];
}

/**
 * Reads both texts as lacking the indentation of their first line, with the rest as in the file.
 */
function firstLineReading({ lines, given }: Fitting): string[] | undefined {
  const [first, ...rest] = lines;
  if (first === undefined || first.wanted.indent !== '' || given[0]?.indent !== '')
    return undefined;
  if (rest.some(({ wanted, found }) => wanted.indent !== found.indent)) return undefined;
  if (given.length > 1 && given.every(({ indent }) => indent === '')) return undefined;
  return given.map(({ indent }, at) => (at === 0 ? first.found.indent : indent));
}

/** Returns the one reading of the indentation that the kept lines allow. */
function agreed(fitting: Fitting, readings: readonly string[][]): string[] | undefined {
  const { lines, kept } = fitting;
  const hitsOf = (reading: string[]) =>
    kept.filter((line, at) => line !== undefined && lines[line]?.found.indent === reading[at])
      .length;
  const keptCount = kept.filter((line) => line !== undefined).length;
  const isAnchored = (reading: string[]) =>
    reading[0] === lines[0]?.found.indent && reading.at(-1) === lines.at(-1)?.found.indent;
  const whole = readings.filter((reading) => hitsOf(reading) === keptCount);
  const some = readings.filter((reading) => hitsOf(reading) > 0 && isAnchored(reading));
  // A single line proves nothing: the edit itself may move it.
  const allowed = keptCount < 2 ? readings : whole.length > 0 ? whole : some;
  const [first] = allowed;
  return first !== undefined && allowed.every((reading) => isSame(reading, first))
    ? first
    : undefined;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.every((indent, at) => indent === b[at]);
}

/**
 * Whether texts at the left edge can be fitted to lines of the file that are not. The texts were
 * moved, or they lost their indentation. Both cases have the same result only if no line depends on
 * the column of another.
 */
function isSurelyFlat({ lines, given, kept }: Fitting): boolean {
  if (lines.length === 1 && given.length === 1) return true;
  const repeated = new Set(kept);
  const changed = [
    ...given.filter((_, at) => kept[at] === undefined),
    ...lines.map(({ wanted }) => wanted).filter((_, at) => !repeated.has(at)),
  ];
  return changed.every(({ key }) => !DEPENDS.test(key));
}

/**
 * Whether the search text has the file's indentation, and the replacement one that no edit can
 * mean.
 */
function isDamaged({ lines, given, kept }: Fitting): boolean {
  const indents = given.map(({ indent }) => indent);
  const own = lines.map(({ wanted }) => wanted.indent);
  const [first = ''] = own;
  if (given.length === 0) return false;
  if (indents.every((indent) => indent === '')) {
    if (own.every((indent) => indent !== '') || (first !== '' && kept[0] === 0)) return true;
  } else if (indents[0] === '' && first !== '') return true;
  if (kept.every((line) => line === undefined)) {
    return isShifted(indents, own) && indents[0] !== first && indents.at(-1) !== own.at(-1);
  }
  return isDistorted(lines, given, kept);
}

function isShifted(indents: readonly string[], own: readonly string[]): boolean {
  const least = (list: readonly string[]) => Math.min(...list.map((indent) => indent.length));
  return least(indents) !== least(own);
}

/** Whether kept lines have other columns, and nothing around them explains it. */
function isDistorted(
  lines: Fitting['lines'],
  given: Fitting['given'],
  kept: Fitting['kept'],
): boolean {
  const moved = (at: number) => {
    const line = kept[at];
    return line !== undefined && given[at]?.indent !== lines[line]?.wanted.indent;
  };
  const keptAt = kept.flatMap((line, at) => (line === undefined ? [] : [at]));
  const telling = keptAt.filter((at) => lines[kept[at] ?? 0]?.wanted.indent !== '' || moved(at));
  if (telling.length === 0) return false;
  const shifted = isShifted(
    given.map(({ indent }) => indent),
    lines.map(({ wanted }) => wanted.indent),
  );
  if (shifted && telling.every(moved)) return true;
  if (telling.some((at) => areOfOtherKind(given[at], lines[kept[at] ?? 0]?.wanted))) return true;
  return keptAt.some((at, position) => {
    const next = keptAt[position + 1];
    if (next !== at + 1 || (kept[next] ?? 0) !== (kept[at] ?? 0) + 1) return false;
    return !moved(at) && moved(next);
  });
}

function areOfOtherKind(a: WrittenLine | undefined, b: WrittenLine | undefined): boolean {
  if (a === undefined || b === undefined || a.indent === '' || b.indent === '') return false;
  return a.indent.includes('\t') !== b.indent.includes('\t');
}
