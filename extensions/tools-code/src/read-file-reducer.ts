import type { ToolReducerContext, ToolResult, ToolResultReducer } from '@ethosagent/types';
import { z } from 'zod';

const MAX_LINES = 200;

/** How many lines `read_file` shows when the call names no number. */
const DEFAULT_LIMIT = 2_000;

const readArgs = z.object({
  offset: z.int().default(1),
  limit: z.int().default(DEFAULT_LIMIT),
});

const readResult = z.object({
  totalLines: z.int().min(0),
  startLine: z.literal(1),
  endLine: z.int(),
  sizeBytes: z.int().min(0).optional(),
});

/** Matches the last line of a result that does not show the whole file. */
const NOTE = /\n\n?\[(lines \d+-\d+ of \d+ are shown|read on with offset \d+|cut: line )[^\n]*\]$/;

/**
 * Shortens the result of `read_file` for a long file to its first 200 lines, and says how large the
 * file is and where to read on. A result stays as it is when the call named a range.
 */
export const readFileReducer: ToolResultReducer = {
  toolName: 'read_file',
  reduce(result: ToolResult, { args }: ToolReducerContext): ToolResult {
    if (!result.ok) return result;
    const asked = readArgs.safeParse(args ?? {});
    const about = readResult.safeParse(result.structured);
    if (!asked.success || !about.success) return result;
    const isConstrained = asked.data.offset !== 1 || asked.data.limit !== DEFAULT_LIMIT;
    const { totalLines, endLine, sizeBytes } = about.data;
    if (isConstrained || endLine <= MAX_LINES) return result;

    const end = endOfLine(result.value, MAX_LINES);
    if (end === undefined) return result;
    const size = sizeBytes === undefined ? '' : `${renderSize(sizeBytes)}; `;
    const note = `[${size}lines 1-${MAX_LINES} of ${totalLines} are shown; read on with offset ${MAX_LINES + 1}, or search_files for what matters]`;
    const value = `${result.value.slice(0, end)}\n${note}`;
    if (value.length >= result.value.replace(NOTE, '').length) return result;
    return { ...result, value, structured: { ...result.structured, endLine: MAX_LINES } };
  },
};

/** Returns the offset after the `count`th line; `undefined` when there are fewer lines. */
function endOfLine(text: string, count: number): number | undefined {
  let end = 0;
  for (let line = 0; line < count; line += 1) {
    const newline = text.indexOf('\n', end);
    if (newline === -1) return undefined;
    end = newline + 1;
  }
  return end;
}

function renderSize(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`;
  const kib = bytes / 1_024;
  return kib < 1_024 ? `${Math.round(kib)} KiB` : `${(kib / 1_024).toFixed(1)} MiB`;
}
