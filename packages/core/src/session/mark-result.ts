import { canonicalJson } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import { markUntrusted, type UntrustedOrigin } from '../results/mark-untrusted.js';

/** What the model reads of a result: its value, or its code and its error. */
export function modelText(result: ToolResult): string {
  return result.ok ? result.value : `${result.code}: ${result.error}`;
}

/** A result whose text is marked as untrusted. */
export function markResult(result: ToolResult, origin: UntrustedOrigin): ToolResult {
  return result.ok
    ? { ...result, value: markUntrusted(result.value, origin) }
    : { ...result, error: markUntrusted(result.error, origin) };
}

/**
 * Tells the model that other arguments ran than those that it gave.
 *
 * @param result of the call
 * @param args the arguments that ran
 * @returns the result, with a note before its text
 */
export function withEdit(result: ToolResult, args: unknown): ToolResult {
  const note = `[approved with other arguments: ${canonicalJson(args)}]\n`;
  return result.ok
    ? { ...result, value: note + result.value }
    : { ...result, error: note + result.error };
}
