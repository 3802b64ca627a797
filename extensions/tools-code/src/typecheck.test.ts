import { errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createCodeWorld } from './fixtures/code-world.js';

const CONFIG = JSON.stringify({ compilerOptions: { strict: true, types: [] }, include: ['src'] });

describe('typecheck with tsc', () => {
  it('lists errors with what explains them', async () => {
    const world = createCodeWorld();
    world.install('typescript');
    world.put('tsconfig.json', `// With a comment.\n${CONFIG}`);
    world.put(
      'src/a.ts',
      'export const n: number = "x";\nexport const f: (o: { a: { b: number } }) => void = (o: { a: { b: string } }) => void o;\n',
    );
    const result = await world.run('typecheck', {});
    expect(textOf(result)).toMatch(/^2 errors \(TypeScript \d.*\)\nsrc\/a\.ts:1:14 error TS2322: /);
    expect(textOf(result)).toContain("Type 'number' is not assignable to type 'string'");
    expect(structuredOf(result)).toMatchObject({ tool: 'tsc', passed: false, errors: 2 });
    expect(world.has('src/a.js')).toBe(false);
  });

  it.runIf(isLongRun())('writes nothing where nothing is wrong', async () => {
    const world = createCodeWorld();
    world.install('typescript');
    world.put('tsconfig.json', CONFIG);
    world.put('src/a.ts', 'export const n = 1;\n');
    expect(textOf(await world.run('typecheck', {}))).toMatch(/^no problems/);
    expect(world.has('src/a.js')).toBe(false);
  });

  it.runIf(isLongRun())('checks the projects that a solution names', async () => {
    const world = createCodeWorld();
    world.install('typescript');
    world.put('tsconfig.json', '{"files":[],"references":[{"path":"one"}]}');
    world.put('one/tsconfig.json', '{"compilerOptions":{"composite":true,"types":[]}}');
    world.put('one/a.ts', 'export const n: number = "x";\n');
    const result = await world.run('typecheck', {});
    expect(structuredOf(result)).toMatchObject({ errors: 1, problems: [{ file: 'one/a.ts' }] });
  });

  it.runIf(isLongRun())('a path chooses what is listed, and what is not is counted', async () => {
    const world = createCodeWorld();
    world.install('typescript');
    world.put('tsconfig.json', CONFIG);
    world.put('src/a.ts', 'export const n: number = "x";\n');
    world.put('src/deep/b.ts', 'export const n: number = "x";\n');
    const result = await world.run('typecheck', { path: 'src/deep' });
    expect(structuredOf(result)).toMatchObject({
      errors: 1,
      elsewhere: 1,
      problems: [{ file: 'src/deep/b.ts' }],
    });
    expect(textOf(result)).toContain('[1 more outside src/deep]');
  });

  const VUE_SCRIPT = JSON.stringify({ scripts: { typecheck: 'vue-tsc --noEmit' } });

  it('runs vue-tsc where the script of the project does, since tsc skips the .vue files', async () => {
    const world = createCodeWorld();
    world.install('typescript');
    world.put('package.json', VUE_SCRIPT);
    world.put('tsconfig.json', CONFIG);
    world.put('src/a.ts', 'export const n = 1;\n');
    world.put(
      'node_modules/vue-tsc/package.json',
      '{"version":"3.0.1","bin":{"vue-tsc":"bin/vue-tsc.js"}}',
    );
    world.put(
      'node_modules/vue-tsc/bin/vue-tsc.js',
      'console.log(`src/a.vue(1,2): error TS2322: ${process.argv.slice(2).join(" ")}`);\nprocess.exitCode = 2;\n',
    );
    const result = await world.run('typecheck', {});
    expect(textOf(result)).toMatch(/^1 error \(TypeScript by vue-tsc 3\.0\.1\)\n/);
    expect(structuredOf(result)).toMatchObject({
      tool: 'tsc',
      passed: false,
      problems: [{ file: 'src/a.vue', message: '--project tsconfig.json --noEmit --pretty false' }],
    });
  });

  it('does not say that nothing is wrong where vue-tsc is not installed', async () => {
    const world = createCodeWorld();
    world.install('typescript');
    world.put('package.json', VUE_SCRIPT);
    world.put('tsconfig.json', CONFIG);
    world.put('src/a.ts', 'export const n = 1;\n');
    expect(errorOf(await world.run('typecheck', {}))).toContain('is not installed');
  });

  const configurations: [what: string, config: string, word: string][] = [
    ['an invalid option', '{"compilerOptions":{"nonsense":true},"include":["src"]}', 'nonsense'],
    ['no input', '{"include":["nowhere"]}', 'TS18003'],
  ];
  it.each(inCheck(configurations, ([what]) => what === 'no input'))(
    'a configuration with %s is told',
    async (_name, config, word) => {
      const world = createCodeWorld();
      world.install('typescript');
      world.put('tsconfig.json', config);
      world.put('src/a.ts', 'export const n = 1;\n');
      const result = await world.run('typecheck', {});
      expect(result.ok ? result.value : errorOf(result)).toContain(word);
    },
  );
});
