import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inPlace, isLongRun, type Outcome, runInTurn, runNode } from '@ethosagent/test-support';
import { extensionOf } from './compile.js';
import { REPOSITORY } from './markdown.js';
import type { Program } from './programs.js';

const VITEST = join(REPOSITORY, 'node_modules', 'vitest', 'vitest.mjs');

/** Runs a compiled program as a user would. */
export function runProgram(program: Program, folder: string): Promise<Outcome> {
  return run(['--enable-source-maps', fileOf(program, folder)]);
}

/** Runs compiled programs one after another in one process (`runInTurn`). */
export async function runPrograms(
  programs: readonly Program[],
  folder: string,
): Promise<Map<Program, Outcome>> {
  const outcomes = await runInTurn(programs.map((program) => fileOf(program, folder)));
  return new Map(
    outcomes.flatMap((outcome, at) => {
      const program = programs[at];
      return program === undefined ? [] : [[program, outcome] as const];
    }),
  );
}

/** Runs compiled programs that are test files: all of them with one start of the test runner. */
export async function runTestPrograms(
  programs: readonly Program[],
  folder: string,
): Promise<Map<Program, Outcome>> {
  const report = join(folder, 'report.json');
  const files = programs.map((program) => fileOf(program, folder));
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${report}`];
  const { stdout, log } = await run([
    VITEST,
    'run',
    '--root',
    join(folder, 'out'),
    '--no-color',
    // In a long run each file has its own process, as it has for a user.
    ...(isLongRun() ? [] : ['--no-isolate', '--maxWorkers=1']),
    ...reporters,
    ...files.map((file) => basename(file)),
  ]);
  const { testResults }: { testResults: { name: string; status: string }[] } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  const passed = new Set(
    testResults.filter(({ status }) => status === 'passed').map(({ name }) => basename(name)),
  );
  return new Map(
    programs.map((program) => {
      const exitCode = passed.has(basename(fileOf(program, folder))) ? 0 : 1;
      return [program, { exitCode, stdout, log }];
    }),
  );
}

function fileOf(program: Program, folder: string): string {
  return join(folder, 'out', `${program.name}${extensionOf(program)}.mjs`);
}

function run(args: readonly string[]): Promise<Outcome> {
  return inPlace((place) => runNode(args, place));
}
