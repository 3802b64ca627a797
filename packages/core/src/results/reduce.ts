import { discard } from '@ethosagent/policy';
import type { ToolResult, ToolResultReducer } from '@ethosagent/types';
import { checkShape } from './check-shape.js';

/**
 * Applies a reducer. A reducer may shorten what happened, not change it: one that throws, returns
 * something invalid or turns a failure into a success is ignored.
 */
export function reduceResult(
  result: ToolResult,
  reducer: ToolResultReducer,
  ctx: { args: unknown; turnCount: number },
): ToolResult {
  try {
    // Gives the reducer a copy. If it changes the copy and then throws, nothing has changed.
    const reduced: unknown = reducer.reduce(structuredClone(result), ctx);
    discard(reduced);
    if (typeof reduced !== 'object' || reduced === null || !('ok' in reduced)) return result;
    const checked = checkShape(reduced);
    if (checked.ok !== reduced.ok || (!result.ok && checked.ok)) return result;
    // A reducer does not decide either whether the text is untrusted.
    if (checked.ok) {
      const { untrusted: _, ...rest } = checked;
      return result.ok && result.untrusted === false ? { ...rest, untrusted: false } : rest;
    }
    // A reducer does not decide either why the call failed.
    const { cause: _, ...rest } = checked;
    const cause = result.ok ? undefined : result.cause;
    return { ...rest, ...(cause !== undefined && { cause }) };
  } catch {
    return result;
  }
}
