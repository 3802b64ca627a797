import { takeStart, truncateToBudget } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';

/** Cuts the text of a result at the budget. */
export function trimResult(result: ToolResult, budgetChars: number): ToolResult {
  if (result.ok) {
    const value = trimText(result.value, budgetChars);
    return value === result.value ? result : { ...result, value };
  }
  const error = trimText(result.error, budgetChars);
  return error === result.error ? result : { ...result, error };
}

/**
 * Cuts a text at a budget.
 * @param totalChars the length of the whole text, if `text` is only its beginning
 */
export function trimText(text: string, budgetChars: number, totalChars?: number): string {
  if (totalChars === undefined) {
    const trimmed = truncateToBudget(text, budgetChars);
    return trimmed === text ? text : detached(trimmed);
  }
  // `truncateToBudget` counts the characters that it cuts off, so padding stands in for the rest.
  // One more character than the budget is kept: it shows whether the cut splits a surrogate pair.
  const start = takeStart(text, budgetChars + 1);
  const room = Math.min(budgetChars, start.length);
  return detached(truncateToBudget(start.padEnd(totalChars), room));
}

/**
 * A copy that does not keep the original text in memory. The engine stores a slice as a window on
 * the whole text, and a conversation keeps its results. Takes well-formed text.
 */
export function detached(text: string): string {
  return Buffer.from(text).toString();
}
