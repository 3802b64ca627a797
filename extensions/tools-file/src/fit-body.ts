import type { Fitting } from './fit-indentation.js';
import { straightQuotes } from './written-line.js';

/**
 * Works out the text of each new line of a replacement. That is the written text, or the written
 * text without the changes that the search text made to every line of the file (blanks at the end,
 * doubled blanks, other quotes).
 *
 * @returns one text for each line; `undefined` when both texts are possible
 */
export function fitBodies({ lines, given, kept }: Fitting): string[] | undefined {
  const off = lines.filter(({ wanted, found }) => wanted.body !== found.body);
  if (off.length === 0) return given.map(({ body }) => body);
  let [asFile, asWanted] = [0, 0];
  for (const [at, line] of kept.entries()) {
    const pair = line === undefined ? undefined : lines[line];
    if (pair === undefined || pair.wanted.body === pair.found.body) continue;
    if (given[at]?.body === pair.found.body) asFile += 1;
    else if (given[at]?.body === pair.wanted.body) asWanted += 1;
    else return undefined;
  }
  if (asFile > 0 && asWanted > 0) return undefined;
  const undo = undoing(off.map(({ wanted, found }) => [wanted.body, found.body]));
  const result: string[] = [];
  for (const [at, { body }] of given.entries()) {
    const original = kept[at] !== undefined || asFile > 0 ? body : undo(body);
    if (original === undefined || (asWanted === 0 && original !== body)) return undefined;
    result.push(original);
  }
  return result;
}

/**
 * Undoes what the search text changed in the lines of the file, if the examples show what that was.
 */
function undoing(
  examples: readonly (readonly [string, string])[],
): (body: string) => string | undefined {
  const ways = [
    (body: string) => body,
    (body: string) => body.trimEnd(),
    straightQuotes,
    halfBlanks,
    (body: string) => straightQuotes(body.trimEnd()),
  ].filter((way) => examples.every(([wanted, found]) => way(wanted) === found));
  const [way] = ways;
  if (way !== undefined) return way;
  // The search text lacks blanks that the file has. A new line with blanks may lack some, too.
  return (body) => (/\s|["']/.test(body) ? undefined : body);
}

function halfBlanks(body: string): string {
  return body.replaceAll(/(?<=\S)(?:( +)\1)(?=\S)/g, '$1');
}
