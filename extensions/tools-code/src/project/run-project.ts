import { resolve } from 'node:path';
import { err, ok } from '@ethosagent/plugin-sdk';
import type { ScopedFs, ScopedProcess, ToolContext, ToolResult } from '@ethosagent/types';
import { GRACE_MS, MAX_TIMEOUT_MS, type RunnerSettings } from '../code-settings.js';
import { cleanText } from '../output/clean-text.js';
import { displayPath } from './file-path.js';
import { type FoundRunner, findRunner, type NoRunner } from './find-runner.js';
import { ProjectFiles } from './project-files.js';
import { MAX_PARSED_CHARS, runCommand, type ToolRun } from './run-command.js';
import type { RunCommand, Runner, RunRequest } from './runner.js';

/** The part of the tool context that a run uses. */
export type RunContext = Pick<
  ToolContext,
  'workingDir' | 'resultBudgetChars' | 'abortSignal' | 'emit' | 'dryRun'
> & { scopedFs: ScopedFs; scopedProcess: ScopedProcess; settings: RunnerSettings };

export interface RunArgs {
  path?: string | undefined;
  filter?: string | undefined;
  runner?: string | undefined;
  fix?: boolean | undefined;
  timeout_ms?: number | undefined;
}

/** What to do with a project, and with which tools. */
export interface ProjectCheck<R> {
  purpose: string;
  runners: readonly Runner<R>[];
}

/** A run that ended with a report. */
export interface Reported<R> {
  found: FoundRunner<R>;
  request: RunRequest;
  run: ToolRun<R>;
  report: R;
  durationMs: number;
}

/** The time limit of the registry for a tool that runs other programs. */
export const CALL_TIMEOUT_MS = MAX_TIMEOUT_MS + GRACE_MS;

/**
 * Finds the tool that the project uses, and runs it.
 *
 * @param check `purpose` is the name of the called tool, e.g. `lint`; `runners` are the tools that
 *   it may use
 * @returns the report; or the result of the call, when there is no report
 */
export async function runProject<R>(
  { purpose, runners }: ProjectCheck<R>,
  args: RunArgs,
  ctx: RunContext,
): Promise<{ ok: true; reported: Reported<R> } | { ok: false; result: ToolResult }> {
  const failed = (result: ToolResult) => ({ ok: false as const, result });
  const files = new ProjectFiles(ctx.scopedFs);
  const start = resolve(ctx.workingDir, args.path ?? '.');
  const kind = await files.kindOf(start);
  if (kind === 'nothing') {
    const shown = displayPath(ctx.workingDir, start);
    return failed(err(`there is nothing at ${shown}; give another path.`, 'input_invalid'));
  }
  const wanted = args.runner ?? ctx.settings.runner;
  const found = await findRunner(files, runners, {
    start: { path: start, isFile: kind === 'file' },
    wanted,
  });
  if ('looked' in found) return failed(nothingFound(runners, found, ctx.workingDir));

  const { runner, root } = found;
  if (args.filter !== undefined && runner.takesFilter === false) {
    return failed(
      err(
        `${runner.title} (${found.sign}) runs all tests or none; leave the filter out`,
        'input_invalid',
      ),
    );
  }
  if (args.fix === true && runner.takesFix === false) {
    return failed(
      err(`${runner.title} (${found.sign}) can't be asked to fix; leave fix out`, 'input_invalid'),
    );
  }
  const request: RunRequest = {
    root,
    target: start === root ? undefined : start,
    isTargetFile: kind === 'file',
    filter: args.filter,
    fix: args.fix === true,
    mark: crypto.randomUUID(),
  };
  const commands = await runner.commands(request, files);
  const [command] = commands;
  if (command === undefined) return failed(notInstalled(found, ctx.workingDir));
  ctx.abortSignal.throwIfAborted();
  if (ctx.dryRun === true) return failed(wouldRun(found, command, ctx.workingDir));

  ctx.emit({
    type: 'progress',
    toolName: purpose,
    message: `running ${runner.title} in ${displayPath(ctx.workingDir, root)}`,
  });
  const timeoutMs = args.timeout_ms ?? ctx.settings.default_timeout_ms;
  const parser = () => runner.parser(request);
  const begun = performance.now();
  const run = await runCommand(ctx.scopedProcess, commands, { parser, timeoutMs });
  const durationMs = Math.round(performance.now() - begun);
  if ('notStarted' in run) {
    const why = run.notStarted.join('; ');
    return failed(err(`${runner.title} (${found.sign}) could not be run: ${why}`, 'not_available'));
  }
  const isOver = !run.timedOut && run.signal === undefined && !run.isTooLong;
  const report = isOver
    ? (run.report ?? (await runner.readFiles?.(request, ctx.scopedFs)))
    : undefined;
  if (run.timedOut || run.signal !== undefined || report === undefined) {
    const text = `${crash(runner.title, run, timeoutMs)}${saying(run.words)}`;
    const cause = run.timedOut ? 'CALL_TIMED_OUT' : undefined;
    return failed(err(text, 'execution_failed', cause));
  }
  return { ok: true, reported: { found, request, run, report, durationMs } };
}

/** Returns the facts about a run that every `structured` value has. */
export function aboutRun<R>(
  { found, run, durationMs }: Reported<R>,
  workingDir: string,
): Record<string, unknown> {
  const { version, cwd } = run.command;
  return {
    tool: found.runner.name,
    ...(version !== undefined && { version }),
    root: displayPath(workingDir, cwd),
    sign: found.sign,
    exitCode: run.exitCode,
    durationMs,
    ...(found.others.length > 0 && { others: found.others }),
    ...(run.command.left !== undefined && { notRun: run.command.left }),
  };
}

/** Returns the title of a tool with its version, e.g. `Biome 2.6.8`. */
export function titleOf<R>({ found, run }: Reported<R>): string {
  const { version } = run.command;
  return version === undefined ? found.runner.title : `${found.runner.title} ${version}`;
}

/** Returns lines that say what else the project uses, and what was not run. */
export function notesOf<R>({ found, request, run }: Reported<R>): string {
  const { others, runner } = found;
  const { left = [] } = run.command;
  const notes = [
    others.length > 0 ? `the project also has ${others.join(', ')}; give runner to use it` : '',
    left.length > 0 ? `of its script, not run: ${cleanText(left.join('; '))}` : '',
    request.target !== undefined && runner.takesPath === false
      ? `${runner.title} runs all of it, whatever the path`
      : '',
  ];
  return notes.flatMap((note) => (note === '' ? [] : `\n[${note}]`)).join('');
}

/** Returns the end of a message, with the text that the tool itself wrote. */
export function saying(words: string): string {
  return words === '' ? '; it said nothing.' : `. It said:\n${words}`;
}

function crash<R>(title: string, run: ToolRun<R>, timeoutMs: number): string {
  if (run.timedOut) {
    return `${title} did not end within ${timeoutMs / 1000} s and was stopped; give a path or a longer timeout_ms`;
  }
  if (run.signal !== undefined) return `${title} was ended by ${run.signal}`;
  if (run.isTooLong) {
    return `${title} wrote more than ${MAX_PARSED_CHARS} characters, so its report was not read; give a path or a filter, or have it print less`;
  }
  return `${title} ended with exit code ${run.exitCode} and without a report`;
}

function nothingFound<R>(
  runners: readonly Runner<R>[],
  { looked, endedAt }: NoRunner,
  workingDir: string,
): ToolResult {
  const where = looked.map((folder) => displayPath(workingDir, folder)).join(', ');
  const what = runners.map(({ name, signs }) => {
    const [file] = [...(signs.files ?? []), ...(signs.fallback ?? [])];
    const [script] = signs.script?.names ?? signs.anyScript ?? [];
    return `${name} (${file ?? `script ${script}`})`;
  });
  const ended =
    endedAt === undefined
      ? ''
      : ` ${displayPath(workingDir, endedAt)} is a package of its own, so folders above it were left out.`;
  return err(
    `found no sign of ${what.join(', ')} in ${where || 'any folder in reach'}; name one with runner, or give the path of another folder.${ended}`,
    'not_available',
  );
}

function notInstalled<R>({ runner, root, sign }: FoundRunner<R>, workingDir: string): ToolResult {
  const where = displayPath(workingDir, root);
  return err(
    `${runner.title} (${sign}) is not installed: there is none in node_modules of ${where} or above, as far as the reach goes. Ask the user to install the dependencies, or to widen the reach.`,
    'not_available',
  );
}

function wouldRun<R>(
  { runner, sign }: FoundRunner<R>,
  { binary, args, cwd, version }: RunCommand,
  workingDir: string,
): ToolResult {
  const where = displayPath(workingDir, cwd);
  const line = [binary, ...args.map((arg) => (arg.length > 200 ? `${arg.slice(0, 60)}…` : arg))];
  return ok(`[dry-run] ${runner.title} (${sign}) would be run in ${where}: ${line.join(' ')}`, {
    structured: {
      dryRun: true,
      tool: runner.name,
      ...(version !== undefined && { version }),
      binary,
      args,
      root: where,
    },
  });
}
