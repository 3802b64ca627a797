import { discard } from '@ethosagent/policy';
import type { ToolResult, ToolResultReducer } from '@ethosagent/types';
import { checkShape } from './check-shape.js';

/**
 * Applies a reducer. One that throws, answers nonsense or turns a failure into a success is
 * ignored: a reducer may shorten what happened, not change it.
 */
export function reduceResult(
  result: ToolResult,
  reducer: ToolResultReducer,
  ctx: { args: unknown; turnCount: number },
): ToolResult {
  try {
    // A copy, so that a reducer that changes what it was given and then throws changed nothing.
    const reduced: unknown = reducer.reduce(structuredClone(result), ctx);
    discard(reduced);
    if (typeof reduced !== 'object' || reduced === null || !('ok' in reduced)) return result;
    const checked = checkShape(reduced);
    if (checked.ok !== reduced.ok || (!result.ok && checked.ok)) return result;
    // Nor who wrote it.
    if (checked.ok) {
      const { untrusted: _, ...rest } = checked;
      return result.ok && result.untrusted === false ? { ...rest, untrusted: false } : rest;
    }
    // Nor why it failed.
    const { cause: _, ...rest } = checked;
    const cause = result.ok ? undefined : result.cause;
    return { ...rest, ...(cause !== undefined && { cause }) };
  } catch {
    return result;
  }
}
