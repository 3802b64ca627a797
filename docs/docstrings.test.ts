import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERROR_CODES } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { docstringProblems } from './tooling/docstrings/problems.js';
import { publicDeclarations } from './tooling/docstrings/public-declarations.js';
import { exportsOf, publicEntries } from './tooling/public-exports.js';

const codes: ReadonlySet<string> = new Set(Object.keys(ERROR_CODES));

function problemsOf(declarations: ReturnType<typeof publicDeclarations>): string[] {
  return declarations.flatMap((declaration) =>
    docstringProblems(declaration, codes).map((problem) => `${declaration.name} ${problem}`),
  );
}

describe('the docstrings of the public API', () => {
  const all = publicDeclarations(publicEntries());

  it('are found, so that the next test has something to look at', () => {
    const names = new Set(all.map(({ name }) => name));
    expect([...names]).toEqual(
      expect.arrayContaining(['createAgent', 'NetworkGuard.fetch', 'ScopedFs.read', 'isCount']),
    );
    expect(names.size).toBeGreaterThan(1_000);
  });

  it('say what a caller gives and gets, and which codes are thrown', () => {
    const problems = all.flatMap((declaration) =>
      docstringProblems(declaration, codes).map(
        (problem) => `${declaration.place} ${declaration.name} ${problem}`,
      ),
    );
    expect(problems).toEqual([]);
  });
});

describe('docstringProblems', () => {
  const problemsIn = (source: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'ethos-docstrings-'));
    const file = join(folder, 'a.ts');
    try {
      writeFileSync(file, source);
      const index = `export { ${/(?:function|class|interface|const) (\w+)/.exec(source)?.[1]} } from './a.js';`;
      const exports = exportsOf(index, 'index.ts').map((each) => ({
        ...each,
        source: file,
        declarations: '',
      }));
      return problemsOf(publicDeclarations([{ specifier: 'a', page: '', exports }]));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it.each([
    ['export function f(): void {}', ['f has no docstring']],
    [
      '/** Does it. */\nexport function f(a: string, { b }: B): number {}',
      ['f has no @param a', 'f has no @param for what it takes apart', 'f has no @returns'],
    ],
    [
      '/**\n * Does it.\n * @param old x\n */\nexport function f(): void {}',
      ['f has a @param that it does not take'],
    ],
    [
      "/** Does it. */\nexport function f(): void { if (x) throw new EthosError('KEY_INVALID', ''); }",
      ['f has no @throws of KEY_INVALID'],
    ],
    [
      '/**\n * Does it.\n * @throws `KEY_WRONG`\n */\nexport function f(): void {}',
      ['f names KEY_WRONG, no error code'],
    ],
    [
      '/** A. */\nexport class A implements B {\n  m(a: string): void {}\n}',
      ['A.m has no docstring'],
    ],
    [
      'export interface I {\n  age: number;\n  ageMs: number;\n  m(): void;\n}',
      ['I.age has no docstring', 'I.m has no docstring'],
    ],
    [
      '/** Yes. */\nexport const f = (a: string): string => a;',
      ['f has no @param a', 'f has no @returns'],
    ],
  ])('finds what %j leaves out', (source, problems) => {
    expect(problemsIn(source)).toEqual(problems);
  });

  it.each([
    '/** Whether it is. */\nexport function f(): boolean {}',
    '/**\n * Does it.\n *\n * @param a x\n * @param b y\n */\nexport function f(a: A, { b }: B): void {}',
    "/**\n * Does it.\n *\n * @throws `KEY_INVALID` for x\n */\n// biome-ignore lint/x: y\nexport function f(): void { throw new EthosError('KEY_INVALID', ''); }",
    "/** Does it. */\nexport function f(): void { g(() => { throw new EthosError('KEY_INVALID', ''); }); }",
    '/** A. */\nexport class A {\n  #m(a: string): void {}\n  override n(a: string): string {}\n}',
  ])('finds nothing in %j', (source) => {
    expect(problemsIn(source)).toEqual([]);
  });
});
