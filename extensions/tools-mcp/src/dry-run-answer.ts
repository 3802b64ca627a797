import { ok } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';

/** The answer to a dry run. It is not untrusted content, since the server has said nothing. */
export function dryRunAnswer(what: string, structured?: Record<string, unknown>): ToolResult {
  return ok(`[dry-run] ${what}`, {
    ...(structured !== undefined && { structured }),
    untrusted: false,
  });
}
