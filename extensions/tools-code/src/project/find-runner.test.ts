import { errorOf, structuredOf } from '@ethosagent/plugin-sdk/testing';
import { describe, expect, it } from 'vitest';
import { createCodeWorld } from '../fixtures/code-world.js';

type Case = [
  tool: string,
  files: Record<string, string>,
  args: object,
  found: { runner: string; root?: string },
];

const DEPENDS = (name: string) => JSON.stringify({ devDependencies: { [name]: '1' } });
const SCRIPT = (name: string, text: string) => JSON.stringify({ scripts: { [name]: text } });

const CASES: readonly Case[] = [
  ['lint', { 'biome.json': '{}' }, {}, { runner: 'biome' }],
  ['lint', { 'biome.jsonc': '{ /* all */ }' }, {}, { runner: 'biome' }],
  ['lint', { 'package.json': DEPENDS('@biomejs/biome') }, {}, { runner: 'biome' }],
  ['lint', { 'eslint.config.mjs': '' }, {}, { runner: 'eslint' }],
  ['lint', { '.eslintrc.json': '{}' }, {}, { runner: 'eslint' }],
  ['lint', { 'package.json': '{"eslintConfig":{}}' }, {}, { runner: 'eslint' }],
  ['lint', { 'biome.json': '{}', 'eslint.config.js': '' }, {}, { runner: 'biome' }],
  [
    'lint',
    { 'biome.json': '{}', 'package.json': SCRIPT('lint', 'eslint src') },
    {},
    { runner: 'eslint' },
  ],
  [
    'lint',
    { 'biome.json': '{}', 'eslint.config.js': '' },
    { runner: 'eslint' },
    { runner: 'eslint' },
  ],
  ['lint', { 'biome.json': '{}', 'a/b/x.js': '' }, { path: 'a/b' }, { runner: 'biome', root: '.' }],
  [
    'lint',
    { 'biome.json': '{}', 'a/ruff.toml': '', 'a/x.py': '' },
    { path: 'a' },
    { runner: 'ruff', root: 'a' },
  ],
  [
    'lint',
    { 'biome.json': '{}', 'pyproject.toml': '', 'x.py': '' },
    { path: 'x.py' },
    { runner: 'ruff' },
  ],
  ['lint', { 'pyproject.toml': '[tool.ruff]' }, {}, { runner: 'ruff' }],
  ['lint', { 'Cargo.toml': '' }, {}, { runner: 'clippy' }],
  ['lint', { 'go.mod': '' }, {}, { runner: 'go-vet' }],
  ['lint', { 'package.json': 'no json', 'go.mod': '' }, {}, { runner: 'go-vet' }],
  ['lint', { 'pyproject.toml': 'no = = toml', 'biome.json': '{}' }, {}, { runner: 'biome' }],
  ['typecheck', { 'tsconfig.json': '{}' }, {}, { runner: 'tsc' }],
  ['typecheck', { 'mypy.ini': '' }, {}, { runner: 'mypy' }],
  ['typecheck', { 'setup.cfg': '[mypy]\nstrict = true\n' }, {}, { runner: 'mypy' }],
  ['typecheck', { 'Cargo.toml': '' }, {}, { runner: 'cargo-check' }],
  ['typecheck', { 'go.mod': '' }, {}, { runner: 'go-build' }],
  ['run_tests', { 'vitest.config.ts': '' }, {}, { runner: 'vitest' }],
  ['run_tests', { 'package.json': DEPENDS('vitest') }, {}, { runner: 'vitest' }],
  ['run_tests', { 'package.json': DEPENDS('jest') }, {}, { runner: 'jest' }],
  ['run_tests', { 'package.json': '{"jest":{}}' }, {}, { runner: 'jest' }],
  [
    'run_tests',
    { 'package.json': SCRIPT('test', 'node --import x --test') },
    {},
    { runner: 'node' },
  ],
  [
    'run_tests',
    { 'package.json': '{"devDependencies":{"vitest":"1","jest":"1"},"scripts":{"test":"jest"}}' },
    {},
    { runner: 'jest' },
  ],
  ['run_tests', { 'a.test.js': '' }, { runner: 'node' }, { runner: 'node' }],
  ['run_tests', { 'conftest.py': '' }, {}, { runner: 'pytest' }],
  ['run_tests', { 'requirements-dev.txt': 'pytest>=8\n' }, {}, { runner: 'pytest' }],
  [
    'run_tests',
    { 'pyproject.toml': '[project]\ndependencies = ["pytest ~= 9"]' },
    {},
    { runner: 'pytest' },
  ],
  ['run_tests', { 'package.json': SCRIPT('test', './all.sh') }, {}, { runner: 'script' }],
  ['run_tests', { 'package.json': SCRIPT('test', 'jest $(ls)') }, {}, { runner: 'script' }],
  ['run_tests', { 'package.json': SCRIPT('test', 'bun test') }, {}, { runner: 'bun' }],
  ['run_tests', { 'bun.lock': '', 'package.json': '{"name":"a"}' }, {}, { runner: 'bun' }],
  ['run_tests', { 'deno.jsonc': '{}' }, {}, { runner: 'deno' }],
  ['run_tests', { 'phpunit.xml.dist': '' }, {}, { runner: 'phpunit' }],
  [
    'run_tests',
    { 'composer.json': '{"require-dev":{"phpunit/phpunit":"^11"}}' },
    {},
    { runner: 'phpunit' },
  ],
  ['run_tests', { '.rspec': '' }, {}, { runner: 'rspec' }],
  ['run_tests', { Gemfile: "gem 'rspec'" }, {}, { runner: 'rspec' }],
  ['run_tests', { 'build.gradle.kts': '' }, {}, { runner: 'gradle' }],
  ['lint', { 'package.json': SCRIPT('lint', 'xo') }, {}, { runner: 'script' }],
  ['run_tests', { 'Cargo.toml': '' }, {}, { runner: 'cargo-test' }],
  ['run_tests', { 'go.mod': '' }, {}, { runner: 'go-test' }],
];

const PACKAGES = ['@biomejs/biome', 'eslint', 'typescript', 'vitest', 'jest'];

function projectOf(files: Record<string, string>) {
  const world = createCodeWorld();
  for (const name of PACKAGES) world.install(name);
  for (const [name, content] of Object.entries(files)) world.put(name, content);
  return world;
}

describe('what a project uses', () => {
  it.each(CASES)('%s of %j with %j is %j', async (tool, files, args, { runner, root = '.' }) => {
    const world = projectOf(files);
    const result = await world.run(tool, args, { dryRun: true });
    expect(structuredOf(result)).toMatchObject({ dryRun: true, tool: runner, root });
    expect(world.audit.events.some(({ capability }) => capability === 'process')).toBe(false);
  });

  it('is not looked for above the reach', async () => {
    const world = projectOf({ 'biome.json': '{}', 'inner/x.js': '' });
    const inner = `${world.dir}/inner`;
    const narrow = createCodeWorld({ personalityFsReach: { read: [inner], write: [] } });
    const result = await narrow.run('lint', {}, { workingDir: inner });
    expect(result).toMatchObject({ ok: false, code: 'not_available' });
    expect(errorOf(result)).toMatch(/no sign of biome .* in \.;/);
  });

  it('is taken from the settings of the personality where they say so', async () => {
    const world = createCodeWorld({ settings: { runner: 'eslint' } });
    world.install('eslint');
    world.put('biome.json', '{}');
    const result = await world.run('lint', {}, { dryRun: true });
    expect(structuredOf(result)).toMatchObject({ tool: 'eslint' });
  });

  it('and is not installed, is told', async () => {
    const world = createCodeWorld();
    world.put('biome.json', '{}');
    const result = await world.run('lint', {});
    expect(result).toMatchObject({ ok: false, code: 'not_available' });
    expect(errorOf(result)).toContain('Biome (biome.json) is not installed');
  });

  it('is run from no package that a link out of reach leads to', async () => {
    const world = createCodeWorld({ personalityFsReach: { read: ['/nonexistent'], write: [] } });
    const own = createCodeWorld({ personalityFsReach: { read: [world.dir], write: [] } });
    world.install('@biomejs/biome');
    world.put('biome.json', '{}');
    const result = await own.run('lint', {}, { workingDir: world.dir });
    expect(result).toMatchObject({ ok: false, code: 'not_available' });
  });

  it('is not looked for in a file of more than 2,000,000 characters', async () => {
    const world = createCodeWorld();
    const run = async (chars: number) => {
      world.put('package.json', `{"scripts":{"test":"true"},"more":"${'x'.repeat(chars)}"}`);
      return world.run('run_tests', {}, { dryRun: true });
    };
    expect(await run(1_900_000)).toMatchObject({ ok: true });
    expect(await run(2_000_000)).toMatchObject({ ok: false, code: 'not_available' });
  });
});
