import type { ToolResultReducer } from '@ethosagent/types';
import { clip } from './clip.js';
import { failureIn } from './failure-lines.js';
import { kindOf } from './output-kind.js';
import { reduceLines } from './reduce-lines.js';

/** An output of up to this many characters is not shortened: it is read as fast as a summary. */
const SHORT_CHARS = 1_500;
const MAX_CHARS = 8_000;
const MAX_LINE_CHARS = 2_000;
const PART_CHARS = 300;

const OWN_LINES =
  /^\[(?:… \d+ characters left out …|stderr|all of the output is in |the beginning of the output is in |the rest was not kept)/;

/**
 * Shortens a long result of `terminal` to the important lines. For test runs, installs, compilers
 * and linters, it keeps the failures first; for git, the beginning of each part; for other output,
 * the beginning and the end. It says how many lines it left out, and how many of them tell of
 * failures.
 */
export const terminalReducer: ToolResultReducer = {
  toolName: 'terminal',
  reduce(result, { args }) {
    if (!result.ok || result.value.length <= SHORT_CHARS) return result;
    const value = reduceOutput(result.value, commandIn(args));
    return value.length < result.value.length ? { ...result, value } : result;
  },
};

/** Shortens the text of a result. Its first line, which says how the command ended, stays. */
export function reduceOutput(value: string, command: string): string {
  const lines = value.split('\n').map(shortLine);
  return reduceLines(lines, {
    kind: kindOf(lines, command),
    maxChars: MAX_CHARS,
    hasFailed: !/^exit code 0\b/.test(value),
    mustStay: (line, at) => at === 0 || OWN_LINES.test(clip(line)),
  }).join('\n');
}

function commandIn(args: unknown): string {
  if (typeof args !== 'object' || args === null || !('command' in args)) return '';
  return typeof args.command === 'string' ? args.command : '';
}

/** Cuts the middle out of a line that is much too long, but keeps text that tells of a failure. */
function shortLine(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  const at = failureIn(line);
  const middle =
    at > PART_CHARS && at < line.length - PART_CHARS
      ? ` … ${line.slice(at - 100, at + PART_CHARS)}`
      : '';
  const left = line.length - 2 * PART_CHARS - middle.length;
  return `${line.slice(0, PART_CHARS)}${middle} [… about ${left} characters left out …] ${line.slice(-PART_CHARS)}`;
}
