import { truncateToBudget } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';

/** Cuts the text of a result at the budget. */
export function trimResult(result: ToolResult, budgetChars: number): ToolResult {
  if (result.ok) {
    const value = truncateToBudget(result.value, budgetChars);
    return value === result.value ? result : { ...result, value: detached(value) };
  }
  const error = truncateToBudget(result.error, budgetChars);
  return error === result.error ? result : { ...result, error: detached(error) };
}

/**
 * A copy that does not hold on to the text that it was cut from: the engine keeps a slice as a
 * window on the whole, and a conversation keeps its results. Takes well-formed text.
 */
export function detached(text: string): string {
  return Buffer.from(text).toString();
}
