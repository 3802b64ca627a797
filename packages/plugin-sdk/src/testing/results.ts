import type { ToolResult } from '@ethosagent/types';

/**
 * The value of a result that must have worked.
 *
 * @param result of a call
 * @returns the value
 * @throws where it didn't, with the whole result
 */
export function textOf(result: ToolResult | undefined): string {
  if (result?.ok !== true) throw unexpected(result);
  return result.value;
}

/**
 * The structured part of a result that must have worked, and must have one.
 *
 * @param result of a call
 * @returns the structured part
 * @throws where it didn't, or has none, with the whole result
 */
export function structuredOf(result: ToolResult | undefined): Record<string, unknown> {
  if (result?.ok !== true || result.structured === undefined) throw unexpected(result);
  return result.structured;
}

/**
 * The error of a result that must have failed.
 *
 * @param result of a call
 * @returns the error
 * @throws where it worked, or there is none, with the whole result
 */
export function errorOf(result: ToolResult | undefined): string {
  if (result?.ok !== false) throw unexpected(result);
  return result.error;
}

function unexpected(result: ToolResult | undefined): Error {
  return new Error(`unexpected result: ${JSON.stringify(result)}`);
}
