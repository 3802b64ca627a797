import { defineTool } from '@ethosagent/plugin-sdk';
import { z } from 'zod';
import { pathInput, runnerSettings, timeoutInput } from './code-settings.js';
import { biome } from './problems/biome.js';
import { clippy } from './problems/cargo.js';
import { checkProblems } from './problems/check-problems.js';
import { eslint } from './problems/eslint.js';
import { goVet } from './problems/go.js';
import { lintScript } from './problems/lint-script.js';
import { ruff } from './problems/ruff.js';
import { withAccessFailures } from './project/failures.js';
import { CALL_TIMEOUT_MS } from './project/run-project.js';

const NAMES = ['biome', 'eslint', 'script', 'ruff', 'clippy', 'go-vet'] as const;
const RUNNERS = [biome, eslint, lintScript, ruff, clippy, goVet];

/**
 * Runs the linter of the project, and lists the problems. Needs `fs_reach` to read and write, and
 * `process` with `sh`, `node`, `python3`, `ruff`, `cargo` and `go`.
 */
export const lintTool = defineTool({
  name: 'lint',
  description:
    'Run the linter that the project uses (Biome, ESLint, Ruff, Clippy, go vet, or its own lint script), and list the problems with file, line, rule and message, errors first. With fix, repair what it can repair.',
  toolset: 'code',
  input: z.strictObject({
    path: pathInput,
    fix: z
      .boolean()
      .default(false)
      .describe('Let the linter change files to repair what it can; the rest is listed.'),
    runner: z
      .enum(NAMES)
      .optional()
      .describe('The linter to use when the project has several. Detected when absent.'),
    timeout_ms: timeoutInput,
  }),
  settings: runnerSettings(NAMES),
  capabilities: {
    fs_reach: { read: 'from-personality', write: 'from-personality' },
    process: { allowedBinaries: ['sh', 'node', 'python3', 'ruff', 'cargo', 'go'] },
  },
  outputIsUntrusted: true,
  supportsDryRun: true,
  timeoutMs: CALL_TIMEOUT_MS,
  execute: (args, ctx) =>
    withAccessFailures(() => checkProblems({ purpose: 'lint', runners: RUNNERS }, args, ctx)),
});
