import type { ToolResult } from '@ethosagent/types';

/**
 * Returns the value of a result that must be a success.
 *
 * @param result the result of a call
 * @returns the text that the model reads
 * @throws an error with the whole result, if it is absent or a failure
 */
export function textOf(result: ToolResult | undefined): string {
  if (result?.ok !== true) throw unexpected(result);
  return result.value;
}

/**
 * Returns the structured part of a result that must be a success.
 *
 * @param result the result of a call
 * @returns the structured part
 * @throws an error with the whole result, if it is absent or a failure, or has no structured part
 */
export function structuredOf(result: ToolResult | undefined): Record<string, unknown> {
  if (result?.ok !== true || result.structured === undefined) throw unexpected(result);
  return result.structured;
}

/**
 * Returns the error of a result that must be a failure.
 *
 * @param result the result of a call
 * @returns the error text that the model reads
 * @throws an error with the whole result, if it is absent or a success
 */
export function errorOf(result: ToolResult | undefined): string {
  if (result?.ok !== false) throw unexpected(result);
  return result.error;
}

function unexpected(result: ToolResult | undefined): Error {
  return new Error(`unexpected result: ${JSON.stringify(result)}`);
}
