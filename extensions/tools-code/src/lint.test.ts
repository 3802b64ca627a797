import { errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createCodeWorld } from './fixtures/code-world.js';

describe('lint with Biome', () => {
  it('lists the problems, errors first', async () => {
    const world = createCodeWorld();
    world.install('@biomejs/biome');
    world.put('biome.json', '{}');
    world.put('src/a.js', 'var a = 1;\nif (a == 2) {\n  debugger;\n}\n');
    const result = await world.run('lint', {});
    expect(textOf(result)).toMatch(/^2 errors(, \d+ warnings?)? \(Biome \d/);
    expect(textOf(result)).toContain('src/a.js:2:7 error lint/suspicious/noDoubleEquals: ');
    expect(structuredOf(result)).toMatchObject({ tool: 'biome', passed: false, errors: 2 });
  });

  it('repairs with fix, and not without', async () => {
    const world = createCodeWorld();
    world.install('@biomejs/biome');
    world.put('biome.json', '{}');
    world.put('a.js', 'let a = 1;\nconsole.log(a);\n');
    textOf(await world.run('lint', {}));
    expect(world.get('a.js')).toContain('let a');
    expect(textOf(await world.run('lint', { fix: true }))).toMatch(/^no problems .*after fixing/);
    expect(world.get('a.js')).toContain('const a');
  });
});

describe('lint with ESLint', () => {
  it('lists what it reports, of the file that was asked for', async () => {
    const world = createCodeWorld();
    world.install('eslint');
    world.put('package.json', '{"scripts":{"lint":"eslint ."}}');
    world.put('biome.json', '{}');
    world.put(
      'eslint.config.js',
      'module.exports = [{ rules: { eqeqeq: "error", "no-var": "warn" } }];',
    );
    world.put('src/a.js', 'var b = 1;\nif (b == 2) { b = 3; }\n');
    world.put('src/b.js', 'if (1 == 2) { }\n');
    const result = await world.run('lint', { path: 'src/a.js' });
    expect(structuredOf(result)).toMatchObject({
      tool: 'eslint',
      sign: 'script lint in package.json',
      others: ['biome'],
      errors: 1,
      warnings: 1,
      problems: [
        { file: 'src/a.js', line: 2, column: 7, rule: 'eqeqeq', severity: 'error' },
        { file: 'src/a.js', line: 1, column: 1, rule: 'no-var', severity: 'warning' },
      ],
    });
  });

  it.runIf(isLongRun())('a broken configuration is a failure, in its own words', async () => {
    const world = createCodeWorld();
    world.install('eslint');
    world.put('eslint.config.js', 'module.exports = [{ rules: { nonsense: 2 } }];');
    world.put('a.js', 'x = 1;\n');
    const result = await world.run('lint', {});
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(errorOf(result)).toContain('nonsense');
  });
});

describe('lint', () => {
  it('of a dry run says what would run, and changes nothing', async () => {
    const world = createCodeWorld();
    world.install('@biomejs/biome');
    world.put('biome.json', '{}');
    world.put('a.js', 'let a = 1;\nconsole.log(a);\n');
    const result = await world.run('lint', { fix: true }, { dryRun: true });
    expect(textOf(result)).toMatch(
      /^\[dry-run\] Biome \(biome\.json\) would be run in \.: node .* --write /,
    );
    expect(world.get('a.js')).toContain('let a');
    expect(world.audit.events.some(({ capability }) => capability === 'process')).toBe(false);
  });

  it('runs in a sandbox that a personality asks for', async () => {
    const world = createCodeWorld({ personalityProcess: { sandbox: 'required' } });
    world.install('@biomejs/biome');
    world.put('biome.json', '{}');
    world.put('a.js', 'debugger;\n');
    expect(structuredOf(await world.run('lint', {}))).toMatchObject({ errors: 1 });
  });

  it.runIf(isLongRun())('passes over what a configuration prints', async () => {
    const world = createCodeWorld();
    world.install('eslint');
    world.put(
      'eslint.config.js',
      'console.log("[loaded]"); module.exports = [{ rules: { eqeqeq: 2 } }];',
    );
    world.put('a.js', 'if (1 == 2) { }\n');
    expect(structuredOf(await world.run('lint', {}))).toMatchObject({ errors: 1 });
  });
});
