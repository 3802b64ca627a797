import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/**
 * Runs a compiled program as a user would: in a folder of its own, with a home of its own and
 * none of this process's environment but `PATH`.
 */
export async function runProgram(program: Program, folder: string): Promise<Outcome> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'snippet-')));
  const [home, temporary, work] = ['home', 'tmp', 'work'].map((name) => join(place, name));
  for (const path of [home, temporary, work]) if (path !== undefined) mkdirSync(path);
  const file = `${program.name}${extensionOf(program)}.mjs`;
  const command =
    program.runs === 'vitest'
      ? [VITEST, 'run', '--root', join(folder, 'out'), '--no-color', file]
      : ['--enable-source-maps', join(folder, 'out', file)];
  try {
    return await new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        command,
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
