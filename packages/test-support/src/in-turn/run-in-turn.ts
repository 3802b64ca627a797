import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleScript } from '../bundle-script.js';
import type { Outcome } from './outcome.js';
import { inPlace, type Place, placeIn } from './place.js';
import type { Turn } from './turns.js';

// A program that hangs must end at some time, so that its test fails.
const LONGEST_RUN_MS = 900_000;

/**
 * Runs JavaScript modules one after another in one process, each with folders of its own and the
 * globals of a new process. Saves the time that the packages take to load for each; so what fails
 * here is to be tried by itself before it is called wrong.
 *
 * @returns how they ended, in the order of `files`. One that ends the process has failed, and those
 *   after it run in a process of their own.
 */
export async function runInTurn(files: readonly string[]): Promise<Outcome[]> {
  const program = await bundleScript(new URL('turns.ts', import.meta.url));
  const outcomes: Outcome[] = [];
  while (outcomes.length < files.length) {
    outcomes.push(...(await runInProcess(program, files.slice(outcomes.length))));
  }
  return outcomes;
}

/** The outcomes of modules, up to the one that ended the process. */
function runInProcess(program: string, files: readonly string[]): Promise<Outcome[]> {
  return inPlace(async (place) => {
    const turns = files.map(
      (file, at): Turn => ({ file, ...placeIn(join(place.temporary, String(at))) }),
    );
    const [list, outcomes] = [join(place.work, 'turns.json'), join(place.work, 'outcomes.jsonl')];
    writeFileSync(list, JSON.stringify(turns));
    writeFileSync(outcomes, '');
    const ended = await runNode(['--single-threaded-gc', program, list, outcomes], place);
    const lines = readFileSync(outcomes, 'utf8').split('\n').slice(0, -1);
    const known = lines.map((line): Outcome => JSON.parse(line));
    return known.length < files.length ? [...known, { ...ended, exitCode: -1 }] : known;
  });
}

/** Runs Node as a user would: with a home of its own, and none of this process's environment but `PATH`. */
export function runNode(
  args: readonly string[],
  { home, temporary, work }: Place,
): Promise<Outcome> {
  return new Promise((resolve) => {
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
}
