import { EthosError, errorCodeOf, type ToolResult } from '@ethosagent/types';
import { z } from 'zod';

/** Bytes of one call, as JSON. */
export const MAX_CALL_BYTES = 1024 * 1024;
/** Bytes of what a program is answered, as JSON. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** A call as a program writes it: one line. Nothing else may be in it. */
const programCall = z.strictObject({
  id: z.int().min(1),
  tool: z.string(),
  args: z.record(z.string(), z.unknown()),
});

export type ProgramCall = z.output<typeof programCall>;

/**
 * @param after the id of the call before: each has a larger one, so that none is told twice
 * @throws `PROGRAM_INVALID`
 */
export function readProgramCall(line: string, after: number): ProgramCall {
  const read = programCall.safeParse(parsed(line));
  if (!read.success) throw invalid('a line that is no call');
  if (read.data.id <= after) throw invalid('a call with an id that was used already');
  return read.data;
}

/** What a program is told of a call that it made. */
export function answerLine(id: number, result: ToolResult): string {
  const line = `${JSON.stringify({ id, ...answerOf(result) })}\n`;
  if (Buffer.byteLength(line) <= MAX_ANSWER_BYTES) return line;
  const error = `the result is larger than ${MAX_ANSWER_BYTES} bytes; ask for less at once`;
  return `${JSON.stringify({ id, ok: false, code: 'PROGRAM_LIMIT', error })}\n`;
}

/** The answer when a program may make no more calls. Running calls fail with it, and all later ones. */
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

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
