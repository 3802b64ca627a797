import { structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createCodeWorld } from './fixtures/code-world.js';
import { RECORDED_RUNS, replay } from './fixtures/recorded-runs.js';

/** The expected result of each recorded run. */
const EXPECTED: Readonly<Record<string, { structured: object; text: string }>> = {
  ruff: {
    structured: {
      errors: 2,
      problems: [
        { file: '/home/dev/pyp/calc.py', line: 1, column: 8, endColumn: 10, rule: 'F401' },
        { file: '/home/dev/pyp/tests/test_import.py', line: 1, rule: 'F401' },
      ],
    },
    text: 'calc.py:1:8 error F401: `os` imported but unused',
  },
  clippy: {
    structured: {
      errors: 0,
      warnings: 2,
      problems: [
        { file: 'src/lib.rs', line: 2, column: 9, rule: 'unused_variables', severity: 'warning' },
        { file: 'src/lib.rs', line: 3, column: 5, rule: 'clippy::needless_return' },
      ],
    },
    text: 'src/lib.rs:3:5 warning clippy::needless_return: unneeded `return` statement',
  },
  'go-vet': {
    structured: {
      errors: 1,
      warnings: 1,
      problems: [
        { file: 'inner/x.go', line: 3, column: 23, severity: 'error' },
        { file: '/home/dev/go/calc.go', line: 6, column: 2, rule: 'printf', severity: 'warning' },
      ],
    },
    text: 'inner/x.go:3:23 error: cannot use "s"',
  },
  mypy: {
    structured: {
      errors: 2,
      problems: [
        { file: 'calc.py', line: 9, column: 12, rule: 'return-value' },
        { file: 'tests/test_import.py', line: 1, column: 1, rule: 'import-not-found' },
      ],
    },
    text: 'calc.py:9:12 error return-value: Incompatible return value type',
  },
  'cargo-check': {
    structured: {
      errors: 1,
      problems: [{ file: 'src/lib.rs', line: 2, column: 23, rule: 'E0308' }],
    },
    text: 'src/lib.rs:2:23 error E0308: mismatched types',
  },
  'go-build': {
    structured: { errors: 1, problems: [{ file: 'inner/x.go', line: 3, column: 23 }] },
    text: 'inner/x.go:3:23 error: cannot use "s"',
  },
  pytest: {
    structured: {
      counts: { passed: 3, failed: 3, skipped: 2, todo: 0 },
      tests: [
        { name: '(file)', file: 'tests/test_import.py', status: 'failed' },
        { name: 'TestMore > test_fails', file: 'tests/test_calc.py', line: 14, status: 'failed' },
        { name: 'test_setup', status: 'failed' },
        { name: 'test_adds', status: 'passed' },
        { name: 'TestMore > test_each[1]' },
        { name: 'TestMore > test_each[2]' },
        { name: 'test_later', status: 'skipped' },
        { name: 'test_known', status: 'skipped' },
      ],
    },
    text: 'AssertionError: sums <differ>',
  },
  'cargo-test': {
    structured: {
      counts: { passed: 1, failed: 1, skipped: 1, todo: 0 },
      tests: [
        { name: 'tests > fails', file: 'src/lib.rs', line: 18, status: 'failed' },
        { name: 'tests > adds', status: 'passed' },
        { name: 'tests > later', status: 'skipped' },
      ],
    },
    text: 'assertion `left == right` failed: sums differ',
  },
  'go-test': {
    structured: {
      counts: { passed: 1, failed: 1, skipped: 1, todo: 0 },
      problems: [{ file: 'inner/x.go', line: 3, column: 23 }],
      tests: [
        { name: 'TestFails > sub_case', file: 'example.com/demo', status: 'failed' },
        { name: 'TestAdd', status: 'passed' },
        { name: 'TestLater', status: 'skipped' },
      ],
    },
    text: 'calc_test.go:12: got 4',
  },
  mocha: {
    structured: {
      counts: { passed: 1, failed: 2, skipped: 2, todo: 0 },
      tests: [
        { name: 'sums fails', file: '/home/dev/js/test/m.js', status: 'failed' },
        { name: 'hook "before all" hook for "x"', status: 'failed' },
        { name: 'sums adds', status: 'passed' },
        { name: 'sums later', status: 'skipped' },
        { name: 'sums some day', status: 'skipped' },
      ],
    },
    text: 'Expected values to be loosely deep-equal',
  },
  ava: {
    structured: {
      counts: { passed: 2, failed: 1, skipped: 1, todo: 1 },
      tests: [{ name: 'fails', status: 'failed' }, {}, {}, {}, {}],
    },
    text: 'AssertionError',
  },
  tap: {
    structured: {
      counts: { passed: 2, failed: 1, skipped: 1, todo: 1 },
      tests: [{ name: 't.tap.js > sums > fails', file: 't.tap.js', line: 2 }, {}, {}, {}, {}],
    },
    text: '-  "a": 2',
  },
  tape: {
    structured: {
      counts: { passed: 2, failed: 1 },
      tests: [{ name: 'fails', file: '/home/dev/js/t.tape.js', line: 2 }, {}, {}],
    },
    text: 'deepEqual: expected { a: 2 }, actual { a: 1 }',
  },
  bun: {
    structured: {
      counts: { passed: 1, failed: 2, skipped: 1, todo: 1 },
      tests: [
        { name: 'sums > fails', file: 'a.test.ts', line: 2 },
        { name: '(file)', file: 'broken.test.ts', status: 'failed' },
        { name: 'sums > adds', status: 'passed' },
        { name: 'sums > later', status: 'skipped' },
        { name: 'sums > some day', status: 'todo' },
      ],
    },
    text: 'expect(received).toEqual(expected)',
  },
  deno: {
    structured: {
      counts: { passed: 2, failed: 4, skipped: 1, todo: 0 },
      tests: [
        { name: 'fails', file: 'a_test.ts', line: 1 },
        { name: 'group' },
        { name: 'group > two', line: 2 },
        { name: '(file)', file: 'broken_test.ts' },
        { name: 'adds' },
        { name: 'later' },
        { name: 'group > one' },
      ],
    },
    text: 'Uncaught Error: no',
  },
  phpunit: {
    structured: {
      counts: { passed: 3, failed: 2, skipped: 2, todo: 0 },
      tests: [
        { name: 'SumTest::testFails', file: '/home/dev/js/tests/SumTest.php', line: 5 },
        { name: 'SumTest::testThrows', line: 8 },
        { name: 'SumTest::testAdds' },
        {},
        {},
        { name: 'SumTest::testEach with data set #0' },
        {},
      ],
    },
    text: 'Failed asserting that two arrays are identical',
  },
  rspec: {
    structured: {
      counts: { passed: 1, failed: 1, skipped: 2, todo: 0 },
      tests: [{ name: 'sums fails', file: 'spec/sum_spec.rb', line: 3 }, {}, {}, {}],
    },
    text: 'expected: 2',
  },
};

describe.each(RECORDED_RUNS)('$tool with $runner, replayed', (run) => {
  const world = () => {
    const made = createCodeWorld();
    for (const [name, content] of Object.entries(run.files)) made.put(name, content);
    return made;
  };

  it('is understood', async () => {
    const made = world();
    made.putBinary(run.binary, replay(run));
    const result = await made.run(run.tool, {});
    const { structured, text } = EXPECTED[run.runner] ?? {};
    expect(structuredOf(result)).toMatchObject({ tool: run.runner, ...structured });
    expect(textOf(result)).toContain(text);
  });

  // Of those that fail with a report, those whose exit code alone says it, and those through a shell, one each.
  const isTried = isLongRun() || ['ruff', 'mypy', 'bun'].includes(run.runner);

  it.runIf(isTried).each([
    ['says nothing and ends with 0', 'exit 0'],
    ['says nothing and ends with 1', 'exit 1'],
    ['complains and ends with 2', 'echo "no such thing as this" >&2; exit 2'],
    ['is killed', 'kill -KILL $$'],
  ])('that %s is no good news', async (_name, program) => {
    const made = world();
    made.putBinary(run.binary, program);
    const result = await made.run(run.tool, {});
    const saysByItsExitCode = ['go-vet', 'go-build', 'mypy'].includes(run.runner);
    if (program === 'exit 0' && saysByItsExitCode) {
      expect(result).toMatchObject({ ok: true, structured: { errors: 0 } });
      return;
    }
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    if (program.includes('>&2'))
      expect(result).toMatchObject({ error: expect.stringContaining('no such thing as this') });
  });

  it.runIf(isTried)('that is not installed is not available', async () => {
    const made = createCodeWorld({ path: '/nonexistent' });
    for (const [name, content] of Object.entries(run.files)) made.put(name, content);
    expect(await made.run(run.tool, {})).toMatchObject({ ok: false, code: 'not_available' });
  });
});
