import { rmSync } from 'node:fs';
import { isLongRun, type Outcome } from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf } from './tooling/blocks.js';
import { type Compiled, compilePrograms } from './tooling/compile.js';
import { readPages } from './tooling/markdown.js';
import { type Program, programsOf } from './tooling/programs.js';
import { runProgram, runPrograms, runTestPrograms } from './tooling/run.js';

const programs = readPages().flatMap((page) => programsOf(blocksOf(page)));
const named = (wanted: (program: Program) => boolean) =>
  programs.filter(wanted).map((program) => [`${program.page}:${program.line}`, program] as const);

let compiled: Compiled;
beforeAll(async () => {
  compiled = await compilePrograms(programs);
});
afterAll(() => rmSync(compiled.folder, { recursive: true, force: true }));

it('the snippets compile against packages that are built (pnpm build)', ({ expect }) => {
  expect(programs).not.toEqual([]);
  expect(compiled.otherProblems).toEqual([]);
});

describe.each(named(() => true))('%s', (_, program) => {
  it('compiles', ({ expect }) => {
    expect(compiled.problemsOf(program)).toEqual([]);
  });
});

describe('the snippets that are tests', () => {
  const tests = named(({ runs }) => runs === 'vitest');
  let outcomes: Map<Program, Outcome>;
  beforeAll(async () => {
    outcomes = await runTestPrograms(
      tests.map(([, program]) => program),
      compiled.folder,
    );
  });

  it.each(tests)('%s passes', (_, program) => {
    const { exitCode, log } = outcomes.get(program) ?? {};
    expect(exitCode, log).toBe(0);
  });
});

describe.concurrent('the snippets that are programs', () => {
  const all = named(({ runs }) => runs === 'node');
  let outcomes: ReadonlyMap<Program, Outcome> = new Map();
  beforeAll(async () => {
    // In a long run each program has its own process, as it has for a user.
    if (isLongRun()) return;
    outcomes = await runPrograms(
      all.map(([, program]) => program),
      compiled.folder,
    );
  });

  it.each(all)('%s runs', async (_, program) => {
    const runsWell = ({ exitCode, stdout }: Outcome) =>
      exitCode === 0 && [undefined, stdout.trim()].includes(program.output?.trim());
    const known = outcomes.get(program);
    if (known !== undefined && runsWell(known)) return;
    const { exitCode, stdout, log } = await runProgram(program, compiled.folder);
    expect(exitCode, log).toBe(0);
    if (program.output !== undefined) expect(stdout.trim()).toBe(program.output.trim());
  });
});
