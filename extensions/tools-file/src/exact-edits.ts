import type { Hunk } from './hunk.js';
import { lineEndingAdapter } from './line-endings.js';

/** A range of a text, and its replacement. */
export interface Edit {
  start: number;
  end: number;
  replacement: string;
}

/**
 * Finds the places that have a search text exactly, or else with other line endings.
 *
 * @param limit the search stops after this many places
 */
export function exactEdits(
  text: string,
  hunk: Hunk,
  limit: number,
): { edits: Edit[]; tolerance?: 'line endings' } | undefined {
  const { search } = hunk;
  const edits = editsOf(text, search, { ...hunk, limit });
  if (edits.length > 0) return { edits };
  const unix = search.replaceAll('\r\n', '\n');
  const others = [unix, unix.replaceAll('\n', '\r\n')]
    .filter((variant) => variant !== search)
    .flatMap((variant) => editsOf(text, variant, { ...hunk, search: unix, limit }))
    .sort((a, b) => a.start - b.start);
  return others.length === 0 ? undefined : { edits: others, tolerance: 'line endings' };
}

/**
 * Whether an edit replaces whole lines. Indentation before the first line doesn't matter. Other white
 * space there is text: a no-break space, or a carriage return that ends no line.
 */
export function wholeLines(text: string, edit: Edit | undefined): boolean {
  if (edit === undefined) return false;
  const { start, end } = edit;
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  if (/[^ \t]/.test(text.slice(lineStart, start))) return false;
  const rest = text.slice(end, end + 2);
  return rest === '' || rest.startsWith('\n') || rest === '\r\n' || text[end - 1] === '\n';
}

function editsOf(
  text: string,
  wanted: string,
  { search, replace, replace_all, limit }: Hunk & { limit: number },
): Edit[] {
  // Whoever writes carriage returns into the search text means them in the replacement too.
  const adapt = search.includes('\r') ? () => replace : lineEndingAdapter(text, replace);
  const edits: Edit[] = [];
  // Overlapping places count when a hunk must be unique, but each character is replaced only once.
  const step = replace_all === true ? wanted.length : 1;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + step)) {
    const splitsEnding = wanted.startsWith('\n') && text[at - 1] === '\r';
    edits.push({
      start: splitsEnding ? at - 1 : at,
      end: at + wanted.length,
      replacement: adapt(at),
    });
    if (edits.length === limit) break;
  }
  return edits;
}
