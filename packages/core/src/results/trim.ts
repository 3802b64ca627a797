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
 * @param totalChars of the text that this is the beginning of, where the rest is not at hand
 */
export function trimText(text: string, budgetChars: number, totalChars?: number): string {
  if (totalChars === undefined) {
    const trimmed = truncateToBudget(text, budgetChars);
    return trimmed === text ? text : detached(trimmed);
  }
  // The cut counts what it cuts off, so something stands in for the rest. One character more than
  // the budget, so that a surrogate pair across the cut is seen.
  const start = takeStart(text, budgetChars + 1);
  const room = Math.min(budgetChars, start.length);
  return detached(truncateToBudget(start.padEnd(totalChars), room));
}

/**
 * A copy that does not hold on to the text that it was cut from: the engine keeps a slice as a
 * window on the whole, and a conversation keeps its results. Takes well-formed text.
 */
export function detached(text: string): string {
  return Buffer.from(text).toString();
}
