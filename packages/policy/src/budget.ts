import { takeStart } from './text/cut-text.js';

/** Characters that the results of one batch may have together when the caller names no budget. */
export const DEFAULT_RESULT_BUDGET_CHARS = 80_000;

/**
 * The budget of one call, in characters: an equal share of the batch's, and never more than the
 * tool's own cap. A value that is not a finite number falls back to the default; below zero counts
 * as zero.
 *
 * @param totalChars the budget of the batch, in characters
 * @param calls how many calls share it
 * @param maxResultChars the cap of the tool, in characters
 * @returns a number of characters, 0 or more
 */
export function resolveCallBudget(
  totalChars: number | undefined,
  calls: number,
  maxResultChars?: number,
): number {
  const share = Math.floor(
    sane(totalChars, DEFAULT_RESULT_BUDGET_CHARS) / Math.max(Math.floor(calls) || 1, 1),
  );
  return Math.min(share, Math.floor(sane(maxResultChars, share)));
}

function sane(value: number | undefined, fallback: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(value, 0) : fallback;
}

/** What stands at the end of a text that was cut, and how many characters the whole text has. */
export const TRUNCATION_MARKER = /\n\[truncated -- (\d+) chars total\]$/;

/**
 * The end of a text that was cut from one of `totalChars` characters.
 *
 * @param totalChars the length of the whole text, in UTF-16 code units
 * @returns the line that ends a cut text
 */
export function truncationMarker(totalChars: number): string {
  return `\n[truncated -- ${totalChars} chars total]`;
}

/**
 * Cuts a text at a budget of UTF-16 code units, never inside a surrogate pair, and marks the cut
 * with `truncationMarker`. Lone surrogates become U+FFFD. A budget that is no number, or is below
 * zero, counts as 0.
 *
 * @param text of any length
 * @param budgetChars UTF-16 code units that are kept, without the marker
 * @returns the whole text where it fits, else its beginning and the marker
 */
export function truncateToBudget(text: string, budgetChars: number): string {
  const clean = text.toWellFormed();
  if (clean.length <= budgetChars) return clean;
  // A negative end would make `slice` count from the end of the text. `NaN` becomes zero.
  const room = Math.max(budgetChars, 0) || 0;
  return takeStart(clean, room) + truncationMarker(clean.length);
}
