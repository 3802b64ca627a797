import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { REPOSITORY } from './markdown.js';
import type { Program } from './programs.js';

/** Programs, compiled to a folder of JavaScript. */
export interface Compiled {
  /** Below `docs`, so that imports resolve as they would for a user of the built packages. */
  folder: string;
  /** What is wrong with a program, as `page:line:column: …`. */
  problemsOf(program: Program): string[];
  /** What is wrong, and with no program. */
  otherProblems: string[];
}

const OPTIONS = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: {
    outDir: 'out',
    rootDir: '.',
    composite: false,
    declaration: false,
    emitDeclarationOnly: false,
    moduleDetection: 'force',
    noUnusedLocals: false,
    noUnusedParameters: false,
    sourceMap: true,
  },
};

/** Compiles all programs in one run of `tsc`, against the built packages. */
export async function compilePrograms(programs: readonly Program[]): Promise<Compiled> {
  const parent = join(REPOSITORY, 'docs', '.snippets');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'run-'));
  for (const program of programs) {
    writeFileSync(
      join(folder, `${program.name}${extensionOf(program)}.mts`),
      `${program.source}\n`,
    );
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(OPTIONS));
  const output = await tsc(folder);

  const problems = new Map<string, string[]>();
  const otherProblems: string[] = [];
  for (const line of output.split('\n').filter((text) => / error TS\d+: /.test(text))) {
    const [, file = '', at = '', message = ''] = /^(\S+)\((\d+,\d+)\): (.*)$/.exec(line) ?? [];
    const name = basename(file).replace(/(\.test)?\.mts$/, '');
    const program = programs.find((candidate) => candidate.name === name);
    if (program === undefined) otherProblems.push(line);
    else {
      const known = problems.get(name) ?? [];
      problems.set(name, [...known, `${program.page}:${at.replace(',', ':')}: ${message}`]);
    }
  }
  return { folder, problemsOf: ({ name }) => problems.get(name) ?? [], otherProblems };
}

/** The ending of a program's files. vitest recognises test files by it. */
export function extensionOf({ runs }: Program): string {
  return runs === 'vitest' ? '.test' : '';
}

async function tsc(folder: string): Promise<string> {
  const file = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
  const maxBuffer = 64 * 1024 * 1024;
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [file, '-p', folder, '--pretty', 'false'],
      // With a larger heap, the compiler collects garbage less often: a sixth less processor time. It
      // needs nothing else of the environment.
      { cwd: folder, maxBuffer, env: { GOGC: '400' } },
      // If the compiler finds errors, they are on stdout. If it could not run, stdout is empty.
      (error, stdout) => (error && stdout === '' ? reject(error) : resolve(stdout)),
    );
  });
}
