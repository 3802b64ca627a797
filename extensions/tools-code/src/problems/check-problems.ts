import { resolve } from 'node:path';
import { err, ok } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';
import { cleanText } from '../output/clean-text.js';
import { displayPath, isWithin } from '../project/file-path.js';
import {
  aboutRun,
  notesOf,
  type ProjectCheck,
  type RunArgs,
  type RunContext,
  runProject,
  saying,
  titleOf,
} from '../project/run-project.js';
import { resultByExitCode } from '../project/script-result.js';
import type { Problem, ProblemReport } from '../report.js';
import { countProblems, inOrder, renderCounts, renderProblems } from './render-problems.js';

const NOTES_CHARS = 600;

/** Runs a linter or a type checker, and returns the result with the problems that it found. */
export async function checkProblems(
  check: ProjectCheck<ProblemReport>,
  args: RunArgs,
  ctx: RunContext,
): Promise<ToolResult> {
  const ran = await runProject(check, args, ctx);
  if (!ran.ok) return ran.result;
  const { reported } = ran;
  const { request, run, report, found } = reported;
  if (report.byExitCode === true) return resultByExitCode(reported, ctx);
  const base = run.command.base ?? run.command.cwd;
  const all = report.problems.map((problem) => ({ ...problem, file: atBase(problem, base) }));
  const { target } = request;
  const wanted = all.filter(
    ({ file }) => target === undefined || file === '' || isWithin(file, target),
  );
  // The reported problems do not explain why the tool failed.
  if (run.exitCode !== 0 && all.length === 0) {
    return err(
      `${found.runner.title} ended with exit code ${run.exitCode}, though it reported nothing${saying(run.words)}`,
    );
  }
  const problems = inOrder(
    wanted.map((problem) => ({
      ...problem,
      file: problem.file === '' ? '' : displayPath(ctx.workingDir, problem.file),
    })),
  );
  const counts = countProblems(problems);
  const listed = problems.slice(0, ctx.settings.max_problems);
  const elsewhere = all.length - wanted.length;
  // It may fail because of warnings, or for a reason that it did not report.
  const failsWithoutError = run.exitCode !== 0 && countProblems(all).error === 0;
  const value = [
    `${renderCounts(counts)} (${titleOf(reported)}${request.fix ? ', after fixing' : ''})`,
    renderProblems(listed, problems.length, ctx.resultBudgetChars - NOTES_CHARS),
    elsewhere > 0 ? `[${elsewhere} more outside ${args.path}]` : '',
    failsWithoutError ? `[it ended with exit code ${run.exitCode}${saying(run.words)}]` : '',
  ].filter((part) => part !== '');
  return ok(cleanText(value.join('\n')) + notesOf(reported), {
    structured: {
      ...aboutRun(reported, ctx.workingDir),
      passed: run.exitCode === 0 && countProblems(all).error === 0,
      errors: counts.error,
      warnings: counts.warning,
      notes: counts.info,
      elsewhere,
      problems: listed,
      omitted: problems.length - listed.length,
    },
  });
}

function atBase({ file }: Problem, base: string): string {
  return file === '' ? '' : resolve(base, file);
}
