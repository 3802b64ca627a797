import { truncateToBudget } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';

/** Cuts the text of a result at the budget. */
export function trimResult(result: ToolResult, budgetChars: number): ToolResult {
  if (result.ok) {
    const value = truncateToBudget(result.value, budgetChars);
    return value === result.value ? result : { ...result, value };
  }
  const error = truncateToBudget(result.error, budgetChars);
  return error === result.error ? result : { ...result, error };
}
