import { rmSync } from 'node:fs';
import { isLongRun } from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf } from './blocks.js';
import { type Compiled, compilePrograms } from './compile.js';
import { parsePage } from './markdown.js';
import { type Program, programsOf } from './programs.js';
import { runProgram, runTestPrograms } from './run.js';

const fence = (lang: string, code: string) => `\`\`\`${lang}\n${code}\n\`\`\`\n`;
const programsIn = (...parts: string[]) =>
  programsOf(blocksOf(parsePage('p.md', parts.join('\n'))));

describe('blocksOf', () => {
  it.each([
    ['an unknown mark', '<!-- complie -->', 'ts'],
    ['a mark of another kind of block', '<!-- output -->', 'ts'],
    ['a mark in a list with a good one', '<!-- compile, loud -->', 'ts'],
    ['a mark of a block without a language', '<!-- compile -->', ''],
  ])('refuses %s', (_, mark, lang) => {
    expect(() => programsIn(mark, fence(lang, 'f();'))).toThrow(/^p\.md:2: no mark/);
  });
});

describe('programsOf', () => {
  it('keeps the code on its lines, and joins what continues', () => {
    const [program, ...others] = programsIn(
      '# Title',
      fence('ts', 'const a = 1;'),
      'text',
      '<!-- continues -->',
      fence('ts', 'f(a);'),
    );
    expect(others).toEqual([]);
    const lines = program?.source.split('\n');
    expect(program?.line).toBe(3);
    expect(lines?.[2]).toBe('const a = 1;');
    expect(lines?.[8]).toBe('f(a);');
    expect(lines).toHaveLength(9);
  });

  it.each([
    ['a block without a mark', '', 'f();', 'node'],
    ['a block marked run', '<!-- run -->', 'f();', 'node'],
    ['a block marked compile', '<!-- compile -->', 'f();', 'no'],
    ['a block marked compile above an empty line', '<!-- compile -->\n', 'f();', 'no'],
    ['a block that imports vitest', '', "import { it } from 'vitest';", 'vitest'],
  ])('runs %s as it should', (_, mark, code, runs) => {
    expect(programsIn(mark, fence('ts', code)).map((program) => program.runs)).toEqual([runs]);
  });

  it('leaves out fragments that say why', () => {
    expect(programsIn('<!-- no-check: shortened -->', fence('ts', 'f(...);'))).toEqual([]);
  });

  it.each([
    ['a fragment without a reason', '<!-- no-check -->', 'f(...);'],
    ['a whole program as a fragment', '<!-- no-check: lazy -->', 'f();'],
    ['what continues nothing', '<!-- continues -->', 'f();'],
  ])('refuses %s', (_, mark, code) => {
    expect(() => programsIn(mark, fence('ts', code))).toThrow(/^p\.md:3: /);
  });

  it.each([
    ['nothing', ''],
    ['what is compiled only', `<!-- compile -->\n${fence('ts', 'f();')}`],
  ])('refuses the output of %s', (_, before) => {
    expect(() => programsIn(before, '<!-- output -->', fence('text', 'one'))).toThrow(
      /the output of no block that runs/,
    );
  });

  it('takes an element of HTML before a block for what it is', () => {
    expect(programsIn('<br>', '', fence('ts', 'f();'))).toHaveLength(1);
  });

  it('joins the outputs of a program', () => {
    const output = (text: string) => `<!-- output -->\n${fence('text', text)}`;
    const [program] = programsIn(fence('ts', 'f();'), output('one'), output('two'));
    expect(program?.output).toBe('one\ntwo');
  });
});

describe('a program', () => {
  const programs = programsIn(
    fence('ts', "console.log('fine', process.env.SHELL);"),
    fence('ts', "const n: number = 'one';\nconsole.log(n);"),
    fence('ts', "console.log('first');\nthrow new Error('no');"),
    fence('ts', "import { expect, it } from 'vitest';\nit('fails', () => expect(1).toBe(2));"),
    fence('ts', "import { expect, it } from 'vitest';\nit('passes', () => expect(1).toBe(1));"),
  );
  const at = (line: number): Program => {
    const program = programs.find((candidate) => candidate.line === line);
    if (program === undefined) throw new Error(`no program at ${line}`);
    return program;
  };
  let compiled: Compiled;
  beforeAll(async () => {
    compiled = await compilePrograms(programs);
  });
  afterAll(() => rmSync(compiled.folder, { recursive: true, force: true }));

  it('that has a type error is told with the line in the page', () => {
    expect(programs.map((program) => compiled.problemsOf(program))).toEqual([
      [],
      [expect.stringMatching(/^p\.md:6:7: error TS2322: /)],
      [],
      [],
      [],
    ]);
    expect(compiled.otherProblems).toEqual([]);
  });

  it('that works exits with 0, and has nothing of the environment', async () => {
    expect(await runProgram(at(2), compiled.folder)).toMatchObject({
      exitCode: 0,
      stdout: 'fine undefined\n',
    });
  });

  it('that throws does not exit with 0, and the log has the line in the page', async () => {
    const { exitCode, log } = await runProgram(at(11), compiled.folder);
    expect(exitCode).toBe(1);
    expect(log).toMatch(/p-11\.mts:12:/);
  });

  it.runIf(isLongRun())(
    'of tests does not exit with 0 when one fails, and says which',
    async () => {
      const outcomes = await runTestPrograms([at(16), at(21)], compiled.folder);
      expect(outcomes.get(at(16))?.exitCode).toBe(1);
      expect(outcomes.get(at(16))?.log).toContain('expected 1 to be 2');
      expect(outcomes.get(at(21))?.exitCode).toBe(0);
    },
  );
});
