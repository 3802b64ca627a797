import { resolve } from 'node:path';
import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { pathInput, runnerSettings, timeoutInput } from './code-settings.js';
import { cleanText } from './output/clean-text.js';
import {
  countProblems,
  inOrder,
  renderCounts,
  renderProblems,
} from './problems/render-problems.js';
import { withAccessFailures } from './project/failures.js';
import { displayPath } from './project/file-path.js';
import {
  aboutRun,
  CALL_TIMEOUT_MS,
  notesOf,
  type RunArgs,
  type RunContext,
  runProject,
  saying,
  titleOf,
} from './project/run-project.js';
import { resultByExitCode } from './project/script-result.js';
import type { TestCase } from './report.js';
import { TEST_RUNNERS } from './test-runners/index.js';
import { countTests, renderFailures, renderTestCounts } from './test-runners/render-tests.js';

const NAMES = [
  'vitest',
  'jest',
  'mocha',
  'ava',
  'tap',
  'tape',
  'node',
  'bun',
  'deno',
  'script',
  'pytest',
  'cargo-test',
  'go-test',
  'phpunit',
  'rspec',
  'gradle',
] as const;

/** How many tests that did not fail a result names at most. */
const MAX_OTHERS = 2_000;
const NOTES_CHARS = 600;

/**
 * Runs the tests of the project with its test runner. Needs `fs_reach` to read and write, and
 * `process` with `sh`, `node`, `python3`, `cargo`, `go` and `gradle`.
 */
export const runTestsTool = defineTool({
  name: 'run_tests',
  description:
    'Run the tests of the project with the test runner that it uses (Vitest, Jest, Mocha, AVA, tap, node:test, bun, deno, pytest, cargo test, go test, PHPUnit, RSpec, Gradle, or its own test script). Says how many passed, and for each failed test where it is and why it failed. Give a path to run one file or folder, a filter to run tests by name.',
  toolset: 'code',
  input: z.strictObject({
    path: pathInput,
    filter: z
      .string()
      .min(1)
      .max(1_000)
      .regex(/^[^-\0][^\0]*$/, 'must not start with a dash or hold a NUL')
      .optional()
      .describe('Run only tests whose name has this text in it. For pytest, an expression of -k.'),
    runner: z
      .enum(NAMES)
      .optional()
      .describe('The test runner to use when the project has several. Detected when absent.'),
    timeout_ms: timeoutInput,
  }),
  settings: runnerSettings(NAMES),
  capabilities: {
    fs_reach: { read: 'from-personality', write: 'from-personality' },
    process: { allowedBinaries: ['sh', 'node', 'python3', 'cargo', 'go', 'gradle'] },
  },
  outputIsUntrusted: true,
  supportsDryRun: true,
  timeoutMs: CALL_TIMEOUT_MS,
  execute: (args, ctx) => withAccessFailures(() => runTests(args, ctx)),
});

async function runTests(args: RunArgs, ctx: RunContext): Promise<ToolResult> {
  const ran = await runProject({ purpose: 'run_tests', runners: TEST_RUNNERS }, args, ctx);
  if (!ran.ok) return ran.result;
  const { reported } = ran;
  const { run, report, found } = reported;
  if (report.byExitCode === true) return resultByExitCode(reported, ctx);
  const base = run.command.base ?? run.command.cwd;
  const show = (file: string) => displayPath(ctx.workingDir, resolve(base, file));
  const tests = report.tests.map((test) => shown(test, found.runner.name === 'go-test', show));
  const problems = inOrder(
    report.problems
      .filter(({ severity }) => severity === 'error')
      .map((problem) => ({ ...problem, file: problem.file === '' ? '' : show(problem.file) })),
  );
  const counts = countTests(tests);
  const isEmpty = tests.length === 0 && problems.length === 0;
  const ranNone = counts.passed + counts.failed === 0 && problems.length === 0;
  if (isEmpty || (ranNone && args.filter !== undefined)) {
    const isAsked = args.filter !== undefined || args.path !== undefined;
    const asked = [args.path, args.filter && `the filter ${JSON.stringify(args.filter)}`];
    if (!isAsked) return err(`${titleOf(reported)} found no test${saying(run.words)}`);
    const what = asked.filter(Boolean).join(' and ');
    return err(
      `${titleOf(reported)} found no test for ${what}; give another path or filter${saying(run.words)}`,
      'input_invalid',
    );
  }
  const hasFailed = counts.failed > 0 || problems.length > 0;
  // The run failed for a reason outside of the tests, e.g. an error in a setup, or a threshold.
  if (run.exitCode !== 0 && !hasFailed) {
    return err(
      `${titleOf(reported)} ended with exit code ${run.exitCode}, though ${renderTestCounts(counts)}${saying(run.words)}`,
    );
  }
  const failures = tests.filter(({ status }) => status === 'failed');
  const others = tests.filter(({ status }) => status !== 'failed');
  const max = ctx.settings.max_problems;
  const room = ctx.resultBudgetChars - NOTES_CHARS;
  const value = [
    `${renderTestCounts(counts)} (${titleOf(reported)}, ${(reported.durationMs / 1000).toFixed(1)} s)`,
    problems.length > 0 ? `${renderCounts(countProblems(problems))} when building` : '',
    problems.length > 0 ? renderProblems(problems.slice(0, max), problems.length, room / 2) : '',
    failures.length > 0 ? renderFailures(failures.slice(0, max), failures.length, room / 2) : '',
  ].filter((part) => part !== '');
  const listed = [...failures.slice(0, max), ...others.slice(0, MAX_OTHERS)];
  return ok(cleanText(value.join('\n')) + notesOf(reported), {
    structured: {
      ...aboutRun(reported, ctx.workingDir),
      passed: !hasFailed,
      counts,
      tests: listed,
      omitted: tests.length - listed.length,
      ...(problems.length > 0 && { problems: problems.slice(0, max) }),
    },
  });
}

/** Returns a test with its file as it is shown. In Go, the file of a test is its package. */
function shown(test: TestCase, isPackage: boolean, show: (file: string) => string): TestCase {
  return test.file === undefined || isPackage ? test : { ...test, file: show(test.file) };
}
