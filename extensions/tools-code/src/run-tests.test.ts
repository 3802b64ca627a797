import { errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createCodeWorld } from './fixtures/code-world.js';

const TESTS = `
describe('sums', () => {
  test('adds', () => { console.log('noise'); process.stdout.write('no newline'); expect(1 + 1).toBe(2); });
  test('fails', () => { expect({ a: 1 }).toEqual({ a: 2 }); });
  test.skip('later', () => {});
  test.todo('some day');
});
`;

describe.each([
  ['vitest', "import { describe, expect, test } from 'vitest';", { type: 'module' }],
  ['jest', '', {}],
])('run_tests with %s', (runner, head, manifest) => {
  const project = () => {
    const world = createCodeWorld();
    world.install(runner);
    world.put('package.json', JSON.stringify({ ...manifest, devDependencies: { [runner]: '*' } }));
    world.put('src/sum.test.js', head + TESTS);
    return world;
  };

  // Runners only differ in their reports. All get the chosen tests in the same way.
  const isTried = isLongRun() || runner === 'vitest';

  it.runIf(isTried)('tells what failed and why, and counts the rest', async () => {
    const world = project();
    const result = await world.run('run_tests', {});
    expect(structuredOf(result)).toMatchObject({
      tool: runner,
      passed: false,
      counts: { passed: 1, failed: 1, skipped: 1, todo: 1 },
    });
    expect(structuredOf(result).tests).toContainEqual(
      expect.objectContaining({ name: 'sums > fails', file: 'src/sum.test.js', line: 4 }),
    );
    expect(textOf(result)).toMatch(/^1 of 4 tests failed, 1 passed, 1 skipped, 1 to do \(/);
    expect(textOf(result)).toContain('FAILED src/sum.test.js:4 sums > fails');
    expect(world.audit.events.at(-1)).toMatchObject({ reason: 'declared as node' });
  });

  it.runIf(isLongRun())('a file that does not load is a failure', async () => {
    const world = project();
    world.put('src/broken.test.js', 'throw new Error("it does not load");');
    const result = await world.run('run_tests', { path: 'src/broken.test.js' });
    expect(structuredOf(result)).toMatchObject({ counts: { passed: 0, failed: 1 } });
    expect(textOf(result)).toContain('it does not load');
  });

  const choices = [
    ['a filter', { filter: 'adds' }, { passed: 1, failed: 0 }],
    ['a file', { path: 'src/sum.test.js' }, { passed: 1, failed: 1 }],
    ['a folder', { path: 'src' }, { passed: 1, failed: 1 }],
  ] as const;
  // A filter is chosen below, in the sandbox.
  it.runIf(isLongRun()).each(choices)('runs what %s chooses', async (_name, args, counts) => {
    const world = project();
    world.put('other/x.test.js', `${head} test('elsewhere', () => {});`);
    expect(structuredOf(await world.run('run_tests', args))).toMatchObject({ counts });
  });

  it.runIf(isLongRun())('a filter that no test has is told', async () => {
    const result = await project().run('run_tests', { filter: 'nobody(is called' });
    expect(result).toMatchObject({ ok: false, code: 'input_invalid' });
  });
});

describe('run_tests with node:test', () => {
  const project = () => {
    const world = createCodeWorld();
    world.put('package.json', '{"scripts":{"test":"node --test"}}');
    world.put(
      'a.test.js',
      `const { test, describe, it } = require('node:test');
const assert = require('node:assert');
describe('sums', () => {
  it('adds', () => { console.log('noise'); assert.equal(1 + 1, 2); });
  it('fails', () => { assert.equal(1, 2); });
  it.skip('later', () => {});
  it('some day', { todo: true }, () => {});
});
test('top', async (t) => { await t.test('inner', () => {}); });
`,
    );
    return world;
  };

  it('tells what failed and why, and counts the rest', async () => {
    const result = await project().run('run_tests', {});
    expect(structuredOf(result)).toMatchObject({
      tool: 'node',
      counts: { passed: 3, failed: 1, skipped: 1, todo: 1 },
    });
    expect(textOf(result)).toContain('FAILED a.test.js:5 sums > fails');
    expect(textOf(result)).toContain('1 == 2');
  });

  it('a file that does not load is a failure', async () => {
    const world = project();
    world.put('b.test.js', 'throw new Error("it does not load");');
    const result = await world.run('run_tests', { path: 'b.test.js' });
    expect(structuredOf(result)).toMatchObject({ counts: { failed: 1, passed: 0 } });
    expect(textOf(result)).toContain('FAILED b.test.js (file)');
  });
});

describe('run_tests', () => {
  const places: [string, { sandbox: 'required' } | undefined][] = [
    ['nothing', undefined],
    ['a sandbox', { sandbox: 'required' }],
  ];
  it.each(inCheck(places, ([what]) => what === 'a sandbox'))(
    'runs the tests that a filter chooses under %s',
    async (_name, personalityProcess) => {
      const world = createCodeWorld(personalityProcess && { personalityProcess });
      world.install('vitest');
      world.put('package.json', '{"type":"module","devDependencies":{"vitest":"*"}}');
      world.put(
        'a.test.js',
        "import { test } from 'vitest';\ntest('passes', () => {});\ntest('fails', () => { throw 1; });\n",
      );
      const result = await world.run('run_tests', { filter: 'passes' });
      expect(structuredOf(result)).toMatchObject({
        passed: true,
        counts: { passed: 1, failed: 0 },
      });
      const reasons = world.audit.events.flatMap(({ capability, reason }) =>
        capability === 'process' ? [reason] : [],
      );
      expect(reasons).toEqual([
        personalityProcess ? 'declared as node, sandboxed' : 'declared as node',
      ]);
    },
  );

  it.runIf(isLongRun())(
    'an error outside of any test is a failure, in the words of the runner',
    async () => {
      const world = createCodeWorld();
      world.install('vitest');
      world.put('package.json', '{"type":"module","devDependencies":{"vitest":"*"}}');
      world.put(
        'a.test.js',
        `import { test } from 'vitest';
test('passes', async () => {
  setTimeout(() => { throw new Error('thrown into the void'); }, 1);
  await new Promise((wake) => setTimeout(wake, 50));
});
`,
      );
      const result = await world.run('run_tests', {});
      expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
      expect(errorOf(result)).toMatch(/exit code 1, though no test failed, 1 passed/);
      expect(errorOf(result)).toContain('thrown into the void');
    },
  );

  it('shows nothing of its own reporter where there is no test', async () => {
    const world = createCodeWorld();
    world.put('package.json', '{"scripts":{"test":"node --test"}}');
    world.put('a.test.js', "console.log('noise');\n");
    const result = await world.run('run_tests', { filter: 'nothing has this name' });
    expect(result).toMatchObject({ ok: false, error: expect.stringMatching(/found no test/) });
    expect(JSON.stringify(result)).not.toMatch(/told|u0001/);
  });

  it.runIf(isLongRun())('lists as many failures as the settings say, and counts all', async () => {
    const world = createCodeWorld({ settings: { max_problems: 2 } });
    world.put('package.json', '{"scripts":{"test":"node --test"}}');
    world.put(
      'a.test.js',
      "const { test } = require('node:test');\nfor (let i = 0; i < 9; i += 1) test('t' + i, () => { throw new Error('no'); });\n",
    );
    const result = await world.run('run_tests', {});
    expect(structuredOf(result)).toMatchObject({ counts: { failed: 9 }, omitted: 7 });
    expect(structuredOf(result).tests).toHaveLength(2);
    expect(textOf(result)).toMatch(/^9 of 9 tests failed[\s\S]*\[7 more failures;/);
  });

  it.runIf(isLongRun())('fits into the budget of its call, failures first', async () => {
    const world = createCodeWorld();
    world.put('package.json', '{"scripts":{"test":"node --test"}}');
    world.put(
      'a.test.js',
      "const { test } = require('node:test');\nfor (let i = 0; i < 100; i += 1) test('t' + i, () => { throw new Error('no'.repeat(500)); });\n",
    );
    const result = await world.run('run_tests', {}, { resultBudgetChars: 2_000 });
    expect(textOf(result).length).toBeLessThanOrEqual(2_000);
    expect(textOf(result)).toMatch(/^100 of 100 tests failed[\s\S]*more failures; give/);
  });

  it('says when a runner wrote more than is read', async () => {
    const world = createCodeWorld();
    world.put('go.mod', '');
    world.putBinary('go', "head -c 140000000 /dev/zero | tr '\\0' a");
    const result = await world.run('run_tests', {});
    expect(errorOf(result)).toMatch(/wrote more than 134217728 characters, so its report was not/);
  });
});
