import { defineTool } from '@ethosagent/plugin-sdk';
import { z } from 'zod';
import { pathInput, runnerSettings, timeoutInput } from './code-settings.js';
import { cargoCheck } from './problems/cargo.js';
import { checkProblems } from './problems/check-problems.js';
import { goBuild } from './problems/go.js';
import { mypy } from './problems/mypy.js';
import { tsc } from './problems/tsc.js';
import { withAccessFailures } from './project/failures.js';
import { CALL_TIMEOUT_MS } from './project/run-project.js';

const NAMES = ['tsc', 'mypy', 'cargo-check', 'go-build'] as const;
const RUNNERS = [tsc, mypy, cargoCheck, goBuild];

/**
 * Runs the type checker of the project, and lists the errors. Needs `fs_reach` to read and write,
 * and `process` with `node`, `python3`, `mypy`, `cargo` and `go`.
 */
export const typecheckTool = defineTool({
  name: 'typecheck',
  description:
    'Check the types of the project with the type checker that it uses (tsc, mypy, cargo check, go build), and list the errors with file, line, code and message. The whole project is checked; a path chooses which errors are listed.',
  toolset: 'code',
  input: z.strictObject({
    path: pathInput,
    runner: z
      .enum(NAMES)
      .optional()
      .describe('The checker to use when the project has several. Detected when absent.'),
    timeout_ms: timeoutInput,
  }),
  settings: runnerSettings(NAMES),
  capabilities: {
    fs_reach: { read: 'from-personality', write: 'from-personality' },
    process: { allowedBinaries: ['node', 'python3', 'mypy', 'cargo', 'go'] },
  },
  outputIsUntrusted: true,
  supportsDryRun: true,
  timeoutMs: CALL_TIMEOUT_MS,
  execute: (args, ctx) =>
    withAccessFailures(() => checkProblems({ purpose: 'typecheck', runners: RUNNERS }, args, ctx)),
});
