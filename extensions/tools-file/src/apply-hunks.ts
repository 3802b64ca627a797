import { matchLines, type Tolerance } from './line-match.js';
import { lineNumbersAt, linesOf } from './text-lines.js';

/** More places than anyone wants to read of; the search for them ends there. */
export const MAX_AMBIGUOUS = 20;

/** One change: a text that is in the file, and what takes its place. */
export interface Hunk {
  search: string;
  replace: string;
  /** Replace every occurrence, rather than the only one. */
  replace_all?: boolean | undefined;
}

/** What became of a hunk. */
export interface AppliedHunk {
  /** The 1-based line of each place that was changed, at the time it was. */
  lines: number[];
  /** Absent when the text was found exactly. */
  tolerance?: Tolerance;
}

/** Why a hunk doesn't apply. */
export type HunkProblem =
  | { kind: 'empty' }
  | { kind: 'no change' }
  | { kind: 'ambiguous'; lines: number[]; tolerance?: Tolerance }
  | { kind: 'not found' };

export type PatchOutcome =
  | { ok: true; text: string; hunks: AppliedHunk[] }
  /** `text` is what the hunks before this one had made. */
  | { ok: false; index: number; problem: HunkProblem; text: string };

interface Span {
  start: number;
  end: number;
  replacement: string;
}

interface Found {
  spans: Span[];
  tolerance?: Tolerance;
}

/**
 * Applies hunks in order, each to what the one before it made, all or none.
 *
 * A search text is found exactly, or else with other line endings, trailing white space,
 * indentation or white space, in this order. Replacements are literal, take the line endings of the
 * place they go to, and the indentation where that was overlooked.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): PatchOutcome {
  let current = text;
  const applied: AppliedHunk[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const fail = (problem: HunkProblem): PatchOutcome => ({
      ok: false,
      index,
      problem,
      text: current,
    });
    if (hunk.search === '') return fail({ kind: 'empty' });
    if (hunk.search === hunk.replace) return fail({ kind: 'no change' });
    const found = findExact(current, hunk) ?? findTolerant(current, hunk);
    if (found === undefined) return fail({ kind: 'not found' });
    const { tolerance } = found;
    const spans = hunk.replace_all === true ? withoutOverlaps(found.spans) : found.spans;
    const lines = lineNumbersAt(
      current,
      spans.map(({ start }) => start),
    );
    const how = { lines, ...(tolerance !== undefined && { tolerance }) };
    if (spans.length > 1 && hunk.replace_all !== true) return fail({ kind: 'ambiguous', ...how });
    applied.push(how);
    current = splice(current, spans);
  }
  return { ok: true, text: current, hunks: applied };
}

function findExact(text: string, hunk: Hunk): Found | undefined {
  const { search } = hunk;
  const exact = spansOf(text, search, hunk);
  if (exact.length > 0) return { spans: exact };
  const unix = search.replaceAll('\r\n', '\n');
  const spans = [unix, unix.replaceAll('\n', '\r\n')]
    .filter((variant) => variant !== search)
    .flatMap((variant) => spansOf(text, variant, { ...hunk, search: unix }))
    .sort((a, b) => a.start - b.start);
  return spans.length === 0 ? undefined : { spans, tolerance: 'line endings' };
}

function spansOf(text: string, wanted: string, { search, replace, replace_all }: Hunk): Span[] {
  // Whoever writes carriage returns into the search text means them in the replacement too.
  const adapt = search.includes('\r') ? () => replace : lineEndingAdapter(text, replace);
  const spans: Span[] = [];
  // Overlapping occurrences make a hunk ambiguous, but are not replaced twice.
  const step = replace_all === true ? wanted.length : 1;
  const limit = replace_all === true ? Number.POSITIVE_INFINITY : MAX_AMBIGUOUS;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + step)) {
    const splitsEnding = wanted.startsWith('\n') && text[at - 1] === '\r';
    spans.push({
      start: splitsEnding ? at - 1 : at,
      end: at + wanted.length,
      replacement: adapt(at),
    });
    if (spans.length === limit) break;
  }
  return spans;
}

function findTolerant(text: string, { search, replace, replace_all }: Hunk): Found | undefined {
  const wanted = search.split(/\r?\n/);
  const withEnding = wanted.at(-1) === '';
  if (withEnding) wanted.pop();
  const all = replace_all === true;
  const found = matchLines(linesOf(text), wanted, {
    skipOverlaps: all,
    limit: all ? Number.POSITIVE_INFINITY : MAX_AMBIGUOUS,
  });
  if (found === undefined) return undefined;
  const spans = found.matches.map(({ first, last, reindent }): Span => {
    const replacement = lineEndingAdapter(text, reindent(replace))(first.start);
    if (!withEnding) return { start: first.start, end: last.end, replacement };
    // The search text ends its last line; a file that doesn't stays so.
    const stays = last.next === last.end ? replacement.replace(/\r?\n$/, '') : replacement;
    return { start: first.start, end: last.next, replacement: stays };
  });
  return { spans, tolerance: found.tolerance };
}

/**
 * Gives a replacement the line endings that the text has at an offset: those of the line that the
 * offset is in, else of the one before it. Offsets must ascend: what was looked up is kept, because
 * a long line may hold many of them.
 */
function lineEndingAdapter(text: string, replacement: string): (offset: number) => string {
  if (!replacement.includes('\n')) return () => replacement;
  const unix = replacement.replaceAll('\r\n', '\n');
  const dos = unix.replaceAll('\n', '\r\n');
  const lastNewline = text.lastIndexOf('\n');
  if (lastNewline === -1) return () => replacement;
  let newline = -1;
  return (offset) => {
    if (newline < offset) newline = offset > lastNewline ? lastNewline : text.indexOf('\n', offset);
    return text[newline - 1] === '\r' ? dos : unix;
  };
}

function withoutOverlaps(spans: readonly Span[]): Span[] {
  const chosen: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    if (span.start >= (chosen.at(-1)?.end ?? 0)) chosen.push(span);
  }
  return chosen;
}

function splice(text: string, spans: readonly Span[]): string {
  let result = '';
  let from = 0;
  for (const { start, end, replacement } of spans) {
    result += text.slice(from, start) + replacement;
    from = end;
  }
  return result + text.slice(from);
}
