import type { ToolResult } from './tool.js';

// From the registry of symbols, so that two copies of this package use the same one.
const ERROR = Symbol.for('@ethosagent/error-behind');

/**
 * Keeps the error behind a failed result, for the host's `onError`. The error is not a property of
 * the result: copies of the result, its JSON, and results that come out of a registry do not have
 * it.
 *
 * @param result of a tool
 * @param error what was thrown
 * @returns the same result
 */
export function withErrorBehind(result: ToolResult, error: unknown): ToolResult {
  return Object.defineProperty(result, ERROR, { value: { error } });
}

/**
 * The error that `withErrorBehind` kept beside a result.
 *
 * @param result any value
 * @returns `undefined` where there is none
 */
export function errorBehind(result: unknown): { readonly error: unknown } | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const behind: unknown = Reflect.get(result, ERROR);
  if (typeof behind !== 'object' || behind === null || !('error' in behind)) return undefined;
  return { error: behind.error };
}
