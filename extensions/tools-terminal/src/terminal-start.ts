import { resolve } from 'node:path';
import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { showInvisible } from '@ethosagent/policy';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import { withAccessFailures } from './access-failure.js';
import { noBackground, noTerminal } from './background.js';
import { commandInput, cwdInput, missingFolder } from './command-input.js';
import { approvalReason, describeFindings, judgeCall, policyDenial } from './policy-answer.js';
import { SHELL, SHELL_ENVIRONMENT, shellArguments, terminalArguments } from './shell.js';
import { SETTINGS_KEY, type TerminalOptions, terminalSettings } from './terminal-settings.js';

const input = z.strictObject({
  command: commandInput.describe('Shell text for bash, such as the start of a server.'),
  cwd: cwdInput,
  pty: z
    .boolean()
    .default(false)
    .describe(
      'Run the command in a terminal, for programs that draw on the screen or ask questions. See its screen with terminal_read and screen, type with terminal_send_keys.',
    ),
});

/**
 * Creates `terminal_start`, which starts a command and leaves it running, until the session ends.
 * With `pty`, `script` of util-linux opens a terminal for it, in the same sandbox and reach. macOS
 * and Windows have no such `script`. Needs `process` with bash and `background`, and `fs_reach` to
 * read and write.
 *
 * @param options the command policy of personalities that set none
 * @returns the tool, ready to register
 */
export function createTerminalStartTool(
  options: TerminalOptions = {},
): Tool<z.output<typeof input>> {
  return defineTool({
    name: 'terminal_start',
    description:
      'Start a long-running shell command, such as a server or a watcher, and leave it running. The answer has an id at once: read the output with terminal_read, end the command with terminal_stop. The command ends with the session at the latest.',
    toolset: 'terminal',
    input,
    settings: terminalSettings('createTerminalStartTool', options),
    settingsKey: SETTINGS_KEY,
    capabilities: {
      process: { allowedBinaries: [SHELL], background: true },
      fs_reach: { read: 'from-personality', write: 'from-personality' },
    },
    supportsDryRun: true,
    requiresApproval: (args, { settings, workingDir }) =>
      approvalReason(args, settings.policy, workingDir),
    execute: (args, ctx) =>
      withAccessFailures(async () => {
        const { workingDir, settings } = ctx;
        const verdict = judgeCall(args, settings.policy, workingDir);
        const denial = policyDenial(verdict);
        if (denial !== undefined) return denial;
        if (args.pty && !settings.policy.shell) return noTerminal();
        const { background } = ctx.scopedProcess;
        if (background === undefined) return noBackground();
        const cwd = resolve(workingDir, args.cwd ?? '.');
        if (ctx.dryRun === true) {
          const missing = await missingFolder(ctx.scopedFs, cwd);
          if (missing !== undefined) return missing;
          const asks =
            verdict.decision === 'ask'
              ? `\nIt needs approval: ${describeFindings(verdict.findings)}.`
              : '';
          return ok(
            `[dry-run] bash would be started in ${cwd}, and left running:\n${showInvisible(args.command)}${asks}`,
            {
              structured: { dryRun: true, cwd, decision: verdict.decision },
            },
          );
        }
        const process = await background.start(
          SHELL,
          args.pty
            ? terminalArguments(args.command)
            : shellArguments(args.command, settings.policy),
          { cwd, env: SHELL_ENVIRONMENT, keepsInput: args.pty },
        );
        if (process.state === 'ended' && process.error !== undefined) return err(process.error);
        return ok(
          `Started as ${process.id}. Read its output with terminal_read, and end it with terminal_stop.`,
          { structured: { id: process.id, cwd } },
        );
      }),
  });
}
