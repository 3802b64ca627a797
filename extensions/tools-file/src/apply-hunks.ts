import { type Edit, exactEdits, wholeLines } from './exact-edits.js';
import { type Hunk, MAX_AMBIGUOUS, type Tolerance } from './hunk.js';
import { PatchedText } from './patched-text.js';
import { placeEdits } from './place-edits.js';
import { lineNumbersAt } from './text-lines.js';

/** How many line numbers an applied hunk has: results may have only so many values. */
const MAX_LINES = 100;

/** Where and how a hunk was applied. */
export interface AppliedHunk {
  /**
   * The line of each changed place, counted from 1, in the text that this hunk was applied to. Only
   * those of the first 100 places.
   */
  lines: number[];
  /** How many places were changed. Absent when `lines` has all of them. */
  places?: number;
  /** The differences that were ignored to find the text. Absent when it was found exactly. */
  tolerance?: Tolerance;
}

/** Why a hunk doesn't apply. */
export type HunkProblem =
  | { kind: 'empty' }
  | { kind: 'no change' }
  | { kind: 'ambiguous'; lines: number[]; tolerance?: Tolerance }
  /** The place is known, but the white space of the replacement could mean several things. */
  | { kind: 'unclear'; line: number }
  | { kind: 'already applied'; line: number }
  | { kind: 'not found' };

export type PatchOutcome =
  | { ok: true; text: string; hunks: AppliedHunk[] }
  /** `text` is the result of the hunks before this one. */
  | { ok: false; index: number; problem: HunkProblem; text: string };

/** The edits that a hunk makes in a text, or why it makes none. */
type HunkEdits = { edits: Edit[]; tolerance?: Tolerance } | HunkProblem;

/**
 * Applies hunks in order, each to the result of the one before. When one of them does not apply,
 * none is applied.
 *
 * A search text is found exactly, or else as whole lines that differ in white space, line endings
 * or the shape of quotes. When it is found exactly, the replacement is literal, and gets the line
 * endings of its place. When lines differ, those that the replacement keeps stay as they are in the
 * file, and new lines are fitted to the file. A hunk that can be fitted in more than one way is
 * refused.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): PatchOutcome {
  const current = new PatchedText(text);
  const applied: AppliedHunk[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const found = editsOf(current, hunk);
    if ('kind' in found) return { ok: false, index, problem: found, text: current.text };
    const { edits, tolerance } = found;
    const lines = current.lineNumbersAt(edits.slice(0, MAX_LINES).map(({ start }) => start));
    const places = edits.length;
    applied.push({
      lines,
      ...(places > MAX_LINES && { places }),
      ...(tolerance !== undefined && { tolerance }),
    });
    const before = current.text;
    current.apply(edits);
    if (current.text === before) {
      const problem: HunkProblem = { kind: 'already applied', line: lines[0] ?? 1 };
      return { ok: false, index, problem, text: before };
    }
  }
  return { ok: true, text: current.text, hunks: applied };
}

function editsOf(current: PatchedText, hunk: Hunk): HunkEdits {
  const { text } = current;
  if (hunk.search === '') return { kind: 'empty' };
  if (hunk.search === hunk.replace) return { kind: 'no change' };
  const limit = hunk.replace_all === true ? Number.POSITIVE_INFINITY : MAX_AMBIGUOUS;
  const exact = exactEdits(text, hunk, limit);
  const done = appliedAt(current, hunk, exact?.edits);
  if (done !== undefined) return { kind: 'already applied', line: done };
  if (exact !== undefined && hunk.replace_all === true) {
    return oneOrAll(current, hunk, exact);
  }
  if (hunk.exact === true || hunk.search.trim() === '') {
    return exact === undefined ? { kind: 'not found' } : oneOrAll(current, hunk, exact);
  }
  if (exact !== undefined && (exact.edits.length > 1 || !wholeLines(text, exact.edits[0]))) {
    return oneOrAll(current, hunk, exact);
  }
  const placed = placeEdits(current, hunk, { limit, exact: exact?.edits[0] });
  if ('unclearAt' in placed) {
    const [line = 1] = current.lineNumbersAt([placed.unclearAt]);
    return { kind: 'unclear', line };
  }
  if (placed.edits.length === 0) return { kind: 'not found' };
  return oneOrAll(current, hunk, exact === undefined ? placed : { ...exact, edits: placed.edits });
}

function oneOrAll(
  current: PatchedText,
  hunk: Hunk,
  found: { edits: Edit[]; tolerance?: Tolerance },
): HunkEdits {
  const { edits, tolerance } = found;
  if (hunk.replace_all === true) return { ...found, edits: withoutOverlaps(edits) };
  if (edits.length === 1) return found;
  const starts = edits.map(({ start }) => start);
  const lines = current.lineNumbersAt(starts);
  return { kind: 'ambiguous', lines, ...(tolerance !== undefined && { tolerance }) };
}

/**
 * Returns the line where the replacement already is, when the search text is only found inside it.
 */
function appliedAt(
  current: PatchedText,
  { search, replace, replace_all }: Hunk,
  edits: readonly Edit[] | undefined,
): number | undefined {
  if (replace.trim() === '' || replace_all === true) return undefined;
  // A search text with carriage returns means them. For any other, CRLF and LF are the same.
  const read = search.includes('\r') || !replace.includes('\n') ? asItIs : withUnixEndings;
  const wanted = read(replace);
  if (edits !== undefined && (edits.length > 1 || !wanted.includes(search))) return undefined;
  const text = read(current.text);
  const at = text.indexOf(wanted);
  if (at === -1) return undefined;
  const [only] = edits ?? [];
  const offsetOf = (offset: number) => read(current.text.slice(0, offset)).length;
  const covers =
    only === undefined || (at <= offsetOf(only.start) && offsetOf(only.end) <= at + wanted.length);
  return covers ? lineNumbersAt(text, [at])[0] : undefined;
}

function asItIs(text: string): string {
  return text;
}

function withUnixEndings(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function withoutOverlaps(edits: readonly Edit[]): Edit[] {
  const chosen: Edit[] = [];
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    if (edit.start >= (chosen.at(-1)?.end ?? 0)) chosen.push(edit);
  }
  return chosen;
}
