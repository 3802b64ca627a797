import type { Edit } from './exact-edits.js';
import { findPlaces, type Place } from './find-places.js';
import { type Fitted, fitReplacement } from './fit-replacement.js';
import type { Hunk, Tolerance } from './hunk.js';
import type { PatchedText } from './patched-text.js';
import type { Line } from './text-lines.js';

/** The edits of a hunk, or the offset of a place where the replacement is ambiguous. */
export type Placed = { edits: Edit[]; tolerance?: Tolerance } | { unclearAt: number };

/**
 * Finds the places that have a search text as whole lines, except for white space and the shape of
 * quotes, and fits the replacement into each place.
 *
 * @param exact the one place that has the search text exactly, if there is one
 */
export function placeEdits(
  current: PatchedText,
  { search, replace, replace_all }: Hunk,
  { limit, exact }: { limit: number; exact: Edit | undefined },
): Placed {
  const { text, lines: file } = current;
  const wanted = search.split(/\r?\n/);
  const given = replace === '' ? [] : replace.split(/\r?\n/);
  const endsLine = wanted.at(-1) === '' && wanted.length > 1;
  const givenEndsLine = given.at(-1) === '' && given.length > 1;
  if (endsLine) wanted.pop();
  if (endsLine && givenEndsLine) given.pop();
  const places = findPlaces(current, wanted, {
    skipOverlaps: replace_all === true,
    limit,
  });
  // A fitted place may have the blank lines behind it too.
  current.settle((places.at(-1)?.at(-1) ?? 0) + wanted.length + 2);
  const chosen = chooseAmong(file, places, { wanted, exact });
  const isAmbiguous = chosen.length > 1 && replace_all !== true;
  const edits: Edit[] = [];
  const { style } = current;
  for (const place of chosen) {
    const start = file[place[0] ?? 0]?.start ?? 0;
    if (isAmbiguous) {
      edits.push({ start, end: start, replacement: '' });
      continue;
    }
    const fitted = fitReplacement(file, place, { wanted, given, style });
    if (fitted === undefined) return { unclearAt: start };
    const joins = endsLine && !givenEndsLine && given.length > 0;
    const edit = toEdit(text, fitted, { endsLine, joins, replace });
    if (edit === undefined) return { unclearAt: start };
    edits.push(edit);
  }
  const tolerance = toleranceOf(file, chosen[0], wanted);
  return { edits, ...(tolerance !== undefined && { tolerance }) };
}

/**
 * Chooses the places that a search text may mean. When there is an exact one, it is the only one,
 * unless the search text may have lost its indentation.
 */
function chooseAmong(
  file: readonly Line[],
  places: readonly Place[],
  { wanted, exact }: { wanted: readonly string[]; exact: Edit | undefined },
): readonly Place[] {
  if (places.length < 2 || !wanted.some((line) => /^[ \t]+\S/.test(line))) return places;
  if (exact !== undefined) {
    const same = places.filter((place) => {
      const line = file[place[0] ?? 0];
      return line !== undefined && line.end >= exact.start && line.start < exact.end;
    });
    return same.length === 1 ? same : places;
  }
  const full = wanted.filter((line) => line.trim() !== '').map((line) => line.trimEnd());
  const alike = places.filter((place) =>
    place.every((index, at) => file[index]?.text.trimEnd() === full[at]),
  );
  return alike.length === 1 ? alike : places;
}

function toEdit(
  text: string,
  { first, last, result }: Fitted,
  { endsLine, joins, replace }: { endsLine: boolean; joins: boolean; replace: string },
): Edit | undefined {
  // A file without a line ending gets those of the replacement.
  const ending = text.includes('\n')
    ? usualEnding(text, { first, last })
    : (frequentEnding(replace) ?? '\n');
  const stays = result.at(-1)?.of === last;
  if (joins && !stays) return undefined;
  const parts = result.map(({ text: line, of }, at) => {
    const own = of === undefined ? undefined : endingOf(text, of);
    return at === result.length - 1 ? line : line + (own ?? ending);
  });
  const body = parts.join('');
  if (!endsLine) return { start: first.start, end: last.end, replacement: body };
  if (result.length === 0) return { start: first.start, end: last.next, replacement: '' };
  const own = result.at(-1)?.of;
  const end = last.next === last.end ? '' : ((own && endingOf(text, own)) ?? ending);
  return { start: first.start, end: last.next, replacement: body + end };
}

function endingOf(text: string, line: Line): string | undefined {
  return line.next === line.end ? undefined : text.slice(line.end, line.next);
}

/**
 * Returns the most frequent line ending of a place. When it has none, that of the line before it.
 */
function usualEnding(text: string, { first, last }: { first: Line; last: Line }): string {
  const before = text.slice(0, first.start).endsWith('\r\n') ? '\r\n' : '\n';
  return frequentEnding(text.slice(first.start, last.next)) ?? before;
}

function frequentEnding(text: string): string | undefined {
  const endings = text.match(/\r?\n/g);
  if (endings === null) return undefined;
  const dos = endings.filter((ending) => ending === '\r\n').length;
  return dos * 2 > endings.length ? '\r\n' : '\n';
}

function toleranceOf(
  file: readonly Line[],
  place: Place | undefined,
  wanted: readonly string[],
): Tolerance | undefined {
  if (place === undefined) return undefined;
  const found = place.map((index) => file[index]?.text ?? '');
  const full = wanted.filter((line) => line.trim() !== '');
  const same = (normalise: (line: string) => string) =>
    found.every((line, at) => normalise(line) === normalise(full[at] ?? ''));
  if (same((line) => line.trimEnd())) return 'trailing whitespace';
  if (same((line) => line.trim())) return 'indentation';
  return same((line) => line.trim().replaceAll(/\s+/g, ' ')) ? 'whitespace' : 'quotes';
}
