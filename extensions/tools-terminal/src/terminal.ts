import { resolve } from 'node:path';
import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { showHidden, showInvisible } from '@ethosagent/policy';
import type { ScopedFs, ScopedProcess, Tool, ToolContext, ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { withAccessFailures } from './access-failure.js';
import { commandInput, cwdInput, missingFolder } from './command-input.js';
import { CommandOutput } from './output/command-output.js';
import { SpillFile } from './output/spill-file.js';
import { approvalReason, describeFindings, judgeCall, policyDenial } from './policy-answer.js';
import { renderCommand } from './render-command.js';
import { SHELL, SHELL_ENVIRONMENT, shellArguments } from './shell.js';
import {
  LONGEST_MS,
  type TerminalOptions,
  type TerminalSettings,
  terminalSettings,
} from './terminal-settings.js';

const NAME = 'terminal';

const input = z.strictObject({
  command: commandInput.describe(
    'Shell text for bash. Nothing can be typed into the running command: pass everything that a program needs as arguments. Start servers with terminal_start.',
  ),
  cwd: cwdInput,
  timeout_ms: z
    .int()
    .min(100)
    .max(LONGEST_MS)
    .optional()
    .describe(
      'Milliseconds that the command may take. Then it is ended, with everything that it started.',
    ),
  description: z
    .string()
    .max(200)
    .optional()
    .describe('What the command does, in a few words for the user who watches.'),
});

type TerminalArgs = z.output<typeof input>;

type TerminalContext = Pick<
  ToolContext,
  'abortSignal' | 'emit' | 'workingDir' | 'resultBudgetChars' | 'dryRun'
> & { scopedFs: ScopedFs; scopedProcess: ScopedProcess; settings: TerminalSettings };

/**
 * Creates `terminal`, which runs a command and waits for its end. Needs `process` with bash, and
 * `fs_reach` to read and write.
 *
 * @param options the command policy of personalities that set none
 * @returns the tool, ready to register
 */
export function createTerminalTool(options: TerminalOptions = {}): Tool<TerminalArgs> {
  return defineTool({
    name: NAME,
    description:
      'Run a shell command and wait for it. Shows its output and exit code; of a long output, the beginning and the end, with the name of the file that has all of it. Commands that destroy data are refused or need the consent of the user.',
    toolset: 'terminal',
    input,
    settings: terminalSettings('createTerminalTool', options),
    capabilities: {
      process: { allowedBinaries: [SHELL] },
      fs_reach: { read: 'from-personality', write: 'from-personality' },
    },
    outputIsUntrusted: true,
    supportsDryRun: true,
    timeoutMs: LONGEST_MS + 60_000,
    requiresApproval: (args, { settings, workingDir }) =>
      approvalReason(args, settings.policy, workingDir),
    execute: (args, ctx) => withAccessFailures(() => runTerminal(args, ctx)),
  });
}

async function runTerminal(args: TerminalArgs, ctx: TerminalContext): Promise<ToolResult> {
  ctx.abortSignal.throwIfAborted();
  const { settings, workingDir } = ctx;
  const verdict = judgeCall(args, settings.policy, workingDir);
  const denial = policyDenial(verdict);
  if (denial !== undefined) return denial;
  const timeoutMs =
    args.timeout_ms ?? Math.min(settings.default_timeout_ms, settings.max_timeout_ms);
  if (timeoutMs > settings.max_timeout_ms) {
    return err(
      `timeout_ms: ${timeoutMs} is more than the ${settings.max_timeout_ms} that the operator allows; use terminal_start for what runs longer.`,
      'input_invalid',
    );
  }
  const cwd = resolve(workingDir, args.cwd ?? '.');
  if (ctx.dryRun === true) {
    const missing = await missingFolder(ctx.scopedFs, cwd);
    if (missing !== undefined) return missing;
    const asks =
      verdict.decision === 'ask'
        ? ` It needs approval: ${describeFindings(verdict.findings)}.`
        : '';
    return ok(
      `[dry-run] bash would run in ${cwd}, for ${timeoutMs} ms at most:\n${showInvisible(args.command)}\n${asks}`.trim(),
      {
        structured: { dryRun: true, cwd, timeout_ms: timeoutMs, decision: verdict.decision },
        untrusted: false,
      },
    );
  }
  return run(args, { cwd, timeoutMs }, ctx);
}

async function run(
  { command, description }: TerminalArgs,
  { cwd, timeoutMs }: { cwd: string; timeoutMs: number },
  ctx: TerminalContext,
): Promise<ToolResult> {
  const { settings, scopedFs: fs, workingDir } = ctx;
  const shownChars = Math.max(
    200,
    Math.min(settings.max_output_chars, ctx.resultBudgetChars - 500),
  );
  const tell = (message: string) =>
    ctx.emit({ type: 'progress', toolName: NAME, message, audience: 'user' });
  const output = new CommandOutput({
    keepChars: Math.ceil(shownChars / 2),
    spill: new SpillFile({
      fs,
      workingDir,
      dir: settings.spill_dir,
      maxMb: settings.spill_max_mb,
      afterChars: shownChars,
    }),
    onProgress: tell,
  });
  if (description !== undefined) tell(showHidden(description));
  const begin = performance.now();
  const result = await ctx.scopedProcess.spawn(SHELL, shellArguments(command, settings.policy), {
    cwd,
    env: SHELL_ENVIRONMENT,
    timeout: timeoutMs,
    maxOutputBytes: 0,
    overflow: 'drop',
    onOutput: (text, stream) => output.add(text, stream),
  });
  const spilled = await output.end();
  const durationMs = Math.round(performance.now() - begin);
  const { value, structured } = renderCommand(
    result,
    { output, spilled },
    {
      durationMs,
      timeoutMs,
      shownChars,
      workingDir,
    },
  );
  return result.timedOut === true
    ? err(value, 'execution_failed', 'CALL_TIMED_OUT')
    : ok(value, { structured });
}
