import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { expect, it, onTestFinished } from 'vitest';
import { fetchProject, isSame, runBoth } from './contest.js';
import type { Project } from './projects.js';
import { totalsIn } from './summary.js';

const TESTS = `
const { test } = require('node:test');
test('passes', () => {});
test('fails', () => { throw new Error('no'); });
test.skip('later', () => {});
`;

it.runIf(isLongRun())('tells whether both ways agree', async () => {
  const project: Project = {
    name: 'small',
    runner: 'node',
    install: [],
    direct: { script: 'test' },
    summary: 'node',
    files: { 'package.json': '{"scripts":{"test":"node --test"}}', 'a.test.js': TESTS },
  };
  const base = await mkdtemp(join(tmpdir(), 'run-tests-'));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const path = process.env.PATH ?? '';
  const row = await runBoth(project, await fetchProject(project, base, path), path);
  const totals = { passed: 1, failed: 1, left: 1, passedAll: false };
  expect(row).toMatchObject({ runner: 'node', ours: totals, direct: totals });
  expect(isSame(row)).toBe(true);
  expect(isSame({ ...row, ours: { ...totals, passed: 2 } })).toBe(false);
});

it.each([
  ['mocha', '  3 passing (1s)\n  1 pending\n  2 failing\n', 3, 2, 1],
  ['tape', 'ok 1 a # SKIP\n# tests 4\n# pass  3\n# fail  1\n', 2, 1, 1],
  [
    'ava',
    '  ✔ adds\n  ✖ fails Error\n  - [skip] later\n  1 test failed\n  1 test skipped\n',
    1,
    1,
    1,
  ],
  ['jest', 'Tests:       1 failed, 2 skipped, 4 passed, 7 total\n', 4, 1, 2],
  ['vitest', '      Tests  1 failed | 5 passed | 1 todo (7)\n', 5, 1, 1],
  [
    'phpunit',
    'Tests: 7, Assertions: 4, Errors: 1, Failures: 1, Skipped: 1, Incomplete: 1.\n',
    3,
    2,
    2,
  ],
  ['rspec', '4 examples, 1 failure, 2 pending\n', 1, 1, 2],
  ['bun', ' 1 pass\n 1 skip\n 1 todo\n 2 fail\n', 1, 2, 2],
] as const)('reads the summary of %s', (kind, text, passed, failed, left) => {
  expect(totalsIn(kind, text)).toEqual({ passed, failed, left });
});
