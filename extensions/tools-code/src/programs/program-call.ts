import { parseJson } from '@ethosagent/policy';
import { EthosError, errorCodeOf, type ToolResult } from '@ethosagent/types';
import { z } from 'zod';

/** How many bytes a call may have, as JSON. */
export const MAX_CALL_BYTES = 1024 * 1024;
/** How many bytes the answer to a call may have, as JSON. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** A call as a program writes it, on one line. It may have no other fields. */
const programCall = z.strictObject({
  id: z.int().min(1),
  tool: z.string(),
  args: z.record(z.string(), z.unknown()),
});

export type ProgramCall = z.output<typeof programCall>;

/**
 * Reads a call of a program from a line.
 *
 * @param after the id of the call before. The id of each call must be larger, so that no id comes
 *   twice
 * @throws `PROGRAM_INVALID` when the line is not a call, or when its id is not larger
 */
export function readProgramCall(line: string, after: number): ProgramCall {
  const read = programCall.safeParse(parseJson(line));
  if (!read.success) throw invalid('a line that is no call');
  if (read.data.id <= after) throw invalid('a call with an id that was used already');
  return read.data;
}

/** Returns the line that answers a call of a program. */
export function answerLine(id: number, result: ToolResult): string {
  const line = `${JSON.stringify({ id, ...answerOf(result) })}\n`;
  if (Buffer.byteLength(line) <= MAX_ANSWER_BYTES) return line;
  const error = `the result is larger than ${MAX_ANSWER_BYTES} bytes; ask for less at once`;
  return `${JSON.stringify({ id, ok: false, code: 'PROGRAM_LIMIT', error })}\n`;
}

/**
 * Returns the line that ends all calls of a program. Its running and later calls fail with this
 * error.
 */
export function endLine(error: unknown): string {
  const code = errorCodeOf(error) ?? 'PROGRAM_INVALID';
  const text = error instanceof EthosError ? error.message : `${code}: it can make no more calls`;
  return `${JSON.stringify({ end: true, code, error: text })}\n`;
}

export function invalid(what: string): EthosError {
  return new EthosError(
    'PROGRAM_INVALID',
    `the program sent ${what}, and can make no more calls; call tools by \`tools\` alone`,
  );
}

function answerOf(result: ToolResult) {
  if (!result.ok) {
    const { cause, code, error } = result;
    return { ok: false, code: cause ?? code, error: error.toWellFormed() };
  }
  const { value, structured } = result;
  return {
    ok: true,
    text: value.toWellFormed(),
    ...(structured !== undefined && { structured }),
  };
}
