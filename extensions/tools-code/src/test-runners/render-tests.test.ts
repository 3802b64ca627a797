import { describe, expect, it } from 'vitest';
import type { TestCase } from '../report.js';
import { countTests, renderFailure, renderFailures, renderTestCounts } from './render-tests.js';

const failed = (of: Partial<TestCase> = {}): TestCase => ({
  name: 'sums > adds',
  file: 'a.test.ts',
  line: 3,
  status: 'failed',
  failure: {
    message: 'expected 1 to be 2',
    stack: '    at x (a.test.ts:3:1)\n    at node:internal/x:1:1',
  },
  ...of,
});

it.each<[TestCase[], string]>([
  [[], 'no test was run'],
  [[{ name: 'a', status: 'skipped' }], 'no test was run, 1 skipped'],
  [[{ name: 'a', status: 'passed' }], 'no test failed, 1 passed'],
  [
    [{ name: 'a', status: 'passed' }, failed(), { name: 'b', status: 'todo' }],
    '1 of 3 tests failed, 1 passed, 1 to do',
  ],
])('renderTestCounts of %j is %j', (tests, text) => {
  expect(renderTestCounts(countTests(tests))).toBe(text);
});

describe('renderFailure', () => {
  it('tells where, what and the lines of the project', () => {
    expect(renderFailure(failed())).toBe(
      'FAILED a.test.ts:3 sums > adds\n  expected 1 to be 2\n      at x (a.test.ts:3:1)',
    );
  });

  it('of a test without a file or a message names it', () => {
    expect(renderFailure({ name: 'x', status: 'failed' })).toBe('FAILED x');
  });
});

describe('renderFailures', () => {
  const many = Array.from({ length: 40 }, (_, at) => failed({ name: `test ${at}` }));

  it('shortens to names, and counts what is left', () => {
    const text = renderFailures(many, 100, 1_000);
    const shown = text.split('\n').filter((line) => line.startsWith('FAILED ')).length;
    expect(text.length).toBeLessThan(1_200);
    expect(text).toContain('FAILED a.test.ts:3 test 0\n  expected');
    expect(text).toContain(`[${100 - shown} more failures;`);
  });

  it('names one in any case', () => {
    expect(renderFailures(many, 40, 0)).toMatch(/^FAILED a\.test\.ts:3 test 0\n\[39 more/);
  });
});
