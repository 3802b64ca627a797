import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { extensionOf } from './compile.js';
import { REPOSITORY } from './markdown.js';
import type { Program } from './programs.js';

/** How a program ended. */
export interface Outcome {
  exitCode: number;
  stdout: string;
  /** Everything that it wrote, for the one who has to find out what went wrong. */
  log: string;
}

const VITEST = join(REPOSITORY, 'node_modules', 'vitest', 'vitest.mjs');
// A program that hangs must end for its test to fail.
const LONGEST_RUN_MS = 900_000;

/** Runs a compiled program as a user would. */
export function runProgram(program: Program, folder: string): Promise<Outcome> {
  return run(['--enable-source-maps', fileOf(program, folder)]);
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

/** Runs Node in a folder of its own, with a home of its own and none of this process's environment but `PATH`. */
async function run(args: readonly string[]): Promise<Outcome> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'snippet-')));
  const [home, temporary, work] = ['home', 'tmp', 'work'].map((name) => join(place, name));
  for (const path of [home, temporary, work]) if (path !== undefined) mkdirSync(path);
  try {
    return await new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        args,
        {
          cwd: work,
          // biome-ignore lint/style/noProcessEnv: a child needs its PATH, and nothing else
          env: { PATH: process.env.PATH, HOME: home, TMPDIR: temporary },
          timeout: LONGEST_RUN_MS,
          killSignal: 'SIGKILL',
        },
        (_, stdout, stderr) =>
          resolve({ exitCode: child.exitCode ?? -1, stdout, log: stdout + stderr }),
      );
    });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
