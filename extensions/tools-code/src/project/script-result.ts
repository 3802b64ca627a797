import { ok } from '@ethosagent/plugin-sdk';
import { takeEnd } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import { cleanText } from '../output/clean-text.js';
import { aboutRun, notesOf, type Reported, type RunContext } from './run-project.js';

const NOTES_CHARS = 600;

/** Returns the result of a script that reports only its exit code, with both ends of its output. */
export function resultByExitCode<R>(reported: Reported<R>, ctx: RunContext): ToolResult {
  const { found, run, durationMs } = reported;
  const passed = run.exitCode === 0;
  const room = Math.max(ctx.resultBudgetChars - NOTES_CHARS, 200);
  const output = cleanText(run.output);
  const end = output.length > room ? takeEnd(output, room) : output;
  const how = passed ? 'ended well' : `failed with exit code ${run.exitCode}`;
  const head = `${found.runner.title} ${how} (${found.sign}, ${(durationMs / 1000).toFixed(1)} s)`;
  const said = end === '' ? 'It printed nothing.' : `The end of what it printed:\n${end}`;
  return ok(`${head}\n${said}${notesOf(reported)}`, {
    structured: { ...aboutRun(reported, ctx.workingDir), passed, output: end },
  });
}
