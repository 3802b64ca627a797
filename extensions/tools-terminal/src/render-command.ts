import { isAbsolute, relative, sep } from 'node:path';
import type { ProcessResult } from '@ethosagent/types';
import type { CommandOutput } from './output/command-output.js';
import type { HeadTail } from './output/head-tail.js';
import type { Spilled } from './output/spill-file.js';
import { withoutLastLineEnds } from './output/without-last-line-ends.js';
import { quoteFrames } from './quote-frames.js';

export interface RenderOptions {
  durationMs: number;
  timeoutMs: number;
  /** How many characters of both streams together are shown. */
  shownChars: number;
  workingDir: string;
}

/** Renders the result of a command: the text for the model, and `structured` for programs. */
export function renderCommand(
  { exitCode, signal, timedOut }: ProcessResult,
  { output, spilled }: { output: Pick<CommandOutput, 'stdout' | 'stderr'>; spilled: Spilled },
  { durationMs, timeoutMs, shownChars, workingDir }: RenderOptions,
): { value: string; structured: Record<string, unknown> } {
  const [outChars, errChars] = shares(output.stdout, output.stderr, shownChars);
  const stdout = output.stdout.text(outChars);
  const stderr = output.stderr.text(errChars);
  const omitted = stdout.omittedChars + stderr.omittedChars;
  const how =
    timedOut === true
      ? `timed out after ${timeoutMs} ms; the command and all that it started were ended. Its output until then:`
      : signal === undefined
        ? `exit code ${exitCode} (${seconds(durationMs)})`
        : `ended by ${signal}, exit code ${exitCode} (${seconds(durationMs)})`;
  const lines = [how];
  const trimmed = {
    stdout: withoutLastLineEnds(output.stdout.text(outChars, quoteFrames).text),
    stderr: withoutLastLineEnds(output.stderr.text(errChars, quoteFrames).text),
  };
  if (trimmed.stdout === '' && trimmed.stderr === '') lines.push('(no output)');
  if (trimmed.stdout !== '') lines.push(trimmed.stdout);
  if (trimmed.stderr !== '') lines.push('[stderr]', trimmed.stderr);
  if (omitted > 0) lines.push(whereItIs(spilled, workingDir));
  return {
    value: lines.join('\n'),
    structured: {
      exit_code: exitCode,
      ...(signal !== undefined && { signal }),
      duration_ms: durationMs,
      stdout: stdout.text,
      stderr: stderr.text,
      stdout_chars: output.stdout.chars,
      stderr_chars: output.stderr.chars,
      timed_out: timedOut === true,
      truncated: omitted > 0,
      ...(spilled.path !== undefined && { spilled_to: spilled.path, spill_is_cut: spilled.isCut }),
    },
  };
}

/**
 * Divides the room. Each stream gets at least half of it if it needs so much, and the room that the
 * other leaves.
 */
function shares(stdout: HeadTail, stderr: HeadTail, all: number): [number, number] {
  const half = Math.floor(all / 2);
  const errors = Math.min(stderr.chars, Math.max(half, all - stdout.chars));
  return [all - errors, errors];
}

function whereItIs({ path, isCut, problem }: Spilled, workingDir: string): string {
  if (path === undefined) {
    return problem === undefined
      ? '[the rest was not kept]'
      : `[the rest was not kept, as there is no file that it could go to: ${problem}]`;
  }
  const below = relative(workingDir, path);
  const name = below.startsWith(`..${sep}`) || isAbsolute(below) ? path : below;
  return isCut
    ? `[the beginning of the output is in ${name}, up to the cap on such files; the rest was not kept]`
    : `[all of the output is in ${name}; look into it with read_file or search_files]`;
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
