import type { ToolResult } from './tool.js';

// Of the registry of symbols, so that two copies of this package have the same.
const ERROR = Symbol.for('@ethosagent/error-behind');

/**
 * Lays the error behind a failed result beside it, for the host's `onError`. Neither a copy of the
 * result nor its JSON has it, and no result that comes out of a registry.
 */
export function withErrorBehind(result: ToolResult, error: unknown): ToolResult {
  return Object.defineProperty(result, ERROR, { value: { error } });
}

/** What `withErrorBehind` laid beside a result; `undefined` where it did not. */
export function errorBehind(result: unknown): { readonly error: unknown } | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const behind: unknown = Reflect.get(result, ERROR);
  if (typeof behind !== 'object' || behind === null || !('error' in behind)) return undefined;
  return { error: behind.error };
}
