import { errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { describe, expect, it } from 'vitest';
import { createCodeWorld } from './fixtures/code-world.js';

/** Writes what it was given, in the form of a report of Mocha with one test for each. */
const SHOWS = `
const { env, argv } = process;
const title = (fullTitle) => ({ fullTitle, err: {} });
const passes = [...argv.slice(2), ...['NO_COLOR', 'CI', 'FORCE_COLOR', 'TERM', 'MODE',
  'npm_lifecycle_event', 'npm_package_name'].map((name) => name + '=' + env[name])].map(title);
const stats = { passes: passes.length, pending: 0, failures: 0 };
console.log(JSON.stringify({ stats, passes, pending: [], failures: [] }, null, 2));
`;

function project(manifest: object) {
  const world = createCodeWorld();
  world.put('package.json', JSON.stringify({ name: 'mine', ...manifest }));
  world.put('node_modules/mocha/package.json', '{"version":"9","bin":"./bin.js"}');
  world.put('node_modules/mocha/bin.js', SHOWS);
  const program = '#!/bin/sh\nexec node "${0%/.bin/mocha}/mocha/bin.js" "$@"';
  world.put('node_modules/.bin/mocha', program, 0o755);
  return world;
}

const seen = async (world: ReturnType<typeof project>, args: object = {}) => {
  const { tests } = structuredOf(await world.run('run_tests', args));
  return Array.isArray(tests) ? tests.map(({ name }) => name) : [];
};

describe('the command of a script', () => {
  it('sees the environment of the script, and no variable of the tool', async () => {
    const world = project({ scripts: { test: "MODE='a b' mocha --bail 'test/*.js'" } });
    expect(await seen(world)).toEqual([
      '--bail',
      'test/*.js',
      '--reporter=json',
      'NO_COLOR=undefined',
      'CI=undefined',
      'FORCE_COLOR=undefined',
      'TERM=undefined',
      'MODE=a b',
      'npm_lifecycle_event=test',
      'npm_package_name=mine',
    ]);
  });

  it('lacks what no variable can hold', async () => {
    const world = project({ name: 'a\0b', scripts: { test: 'mocha a.js' } });
    world.put('a.js', '');
    expect(await seen(world)).toContain('npm_package_name=undefined');
  });

  it('has no part of a path or a filter that a shell would run', async () => {
    const world = project({ scripts: { test: 'mocha a.js' } });
    const name = "it's $(touch ran) `touch ran` ; touch ran #.js";
    world.put(name, '');
    const filter = 'x"; touch ran; echo "$(touch ran)';
    const names = await seen(world, { path: name, filter });
    expect(names.slice(0, 3)).toEqual([
      '--reporter=json',
      `--fgrep=${filter}`,
      `${world.dir}/${name}`,
    ]);
    expect(world.has('ran')).toBe(false);
  });
});

it('a task of deno does not watch', async () => {
  const world = createCodeWorld();
  world.put('deno.json', '{"tasks":{"test":"deno test --watch -A && echo done"}}');
  const { tool, args } = structuredOf(await world.run('run_tests', {}, { dryRun: true }));
  expect({ tool, args: String(args) }).toEqual({
    tool: 'deno',
    args: expect.stringMatching(/^deno test -A --junit-path="\$f"$/m),
  });
});

describe('a script that runs nobody knows what', () => {
  it('counts by its exit code, with the end of what it printed', async () => {
    const world = project({
      scripts: { pretest: 'echo first', test: 'echo out; echo no >&2; exit 3' },
    });
    const result = await world.run('run_tests', {});
    expect(structuredOf(result)).toMatchObject({ tool: 'script', passed: false, exitCode: 3 });
    expect(textOf(result)).toMatch(/failed with exit code 3[\s\S]*first\n(out\nno|no\nout)/);
  });

  it('that writes TAP has tests', async () => {
    const test = "printf 'TAP version 13\\nok 1 - a\\nnot ok 2 - b\\n1..2\\n'; exit 1";
    const result = await project({ scripts: { test } }).run('run_tests', {});
    expect(structuredOf(result)).toMatchObject({ counts: { passed: 1, failed: 1 } });
  });

  it('has no filter, and no fix', async () => {
    const world = project({ scripts: { test: './all', lint: 'xo' } });
    for (const [tool, args] of [
      ['run_tests', { filter: 'a' }],
      ['lint', { fix: true }],
    ] as const) {
      const result = await world.run(tool, args);
      expect(result).toMatchObject({ ok: false, code: 'input_invalid' });
      expect(errorOf(result)).toMatch(/leave/);
    }
  });

  it('is what lint runs where it knows no linter', async () => {
    const result = await project({ scripts: { lint: 'echo bad; exit 1' } }).run('lint', {});
    expect(structuredOf(result)).toMatchObject({ tool: 'script', passed: false });
    expect(textOf(result)).toContain('bad');
  });
});

describe('the nearest package', () => {
  const inner = async (files: Record<string, string>, args: object = { path: 'inner' }) => {
    const world = createCodeWorld();
    for (const name of ['vitest', 'jest']) world.install(name);
    for (const [name, content] of Object.entries(files)) world.put(name, content);
    return world.run('run_tests', args, { dryRun: true });
  };
  const PARENT = { 'package.json': '{"name":"outer","devDependencies":{"vitest":"*"}}' };
  const bare = '{"name":"inner"}';

  it('decides, whatever a folder above it uses', async () => {
    const own = '{"name":"inner","scripts":{"test":"bnt"}}';
    const result = await inner({ ...PARENT, 'inner/package.json': own });
    expect(structuredOf(result)).toMatchObject({ tool: 'script', root: 'inner' });
  });

  it.each([['inner'], ['inner/a.test.js']])(
    'that shows nothing ends the search (%s)',
    async (path) => {
      const files = { ...PARENT, 'inner/package.json': bare, 'inner/a.test.js': '' };
      const result = await inner(files, { path });
      expect(result).toMatchObject({ ok: false, code: 'not_available' });
      expect(errorOf(result)).toContain('inner is a package of its own');
    },
  );

  it.each([
    [{ 'pnpm-workspace.yaml': 'packages: ["inn*"]' }],
    [{ 'package.json': '{"workspaces":["./inner/"],"devDependencies":{"vitest":"*"}}' }],
    [{ 'lerna.json': '{"packages":["*"]}' }],
  ])('is part of a workspace where %j says so', async (files) => {
    const result = await inner({ ...PARENT, ...files, 'inner/package.json': bare });
    expect(structuredOf(result)).toMatchObject({ tool: 'vitest', root: '.' });
  });

  it.each([
    [{ 'pnpm-workspace.yaml': 'packages: ["*", "!inner"]' }],
    [{ 'pnpm-workspace.yaml': 'packages: [' }],
    [{ 'package.json': '{"workspaces":["packages/*"],"devDependencies":{"vitest":"*"}}' }],
  ])('is not where %j says otherwise', async (files) => {
    const result = await inner({ ...PARENT, ...files, 'inner/package.json': bare });
    expect(result).toMatchObject({ ok: false, code: 'not_available' });
  });

  it('is none without a name: a package.json that only says how files are read', async () => {
    const result = await inner({ ...PARENT, 'inner/package.json': '{"type":"module"}' });
    expect(structuredOf(result)).toMatchObject({ tool: 'vitest', root: '.' });
  });
});
