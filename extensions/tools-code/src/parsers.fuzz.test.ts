import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { assert, describe } from 'vitest';
import { outputOf, RECORDED_MARK, RECORDED_RUNS } from './fixtures/recorded-runs.js';
import type { OutputParser } from './output/output-parser.js';
import { biome } from './problems/biome.js';
import { cargoCheck, clippy } from './problems/cargo.js';
import { eslint } from './problems/eslint.js';
import { goBuild, goVet } from './problems/go.js';
import { lintScript } from './problems/lint-script.js';
import { mypy } from './problems/mypy.js';
import { ruff } from './problems/ruff.js';
import { tsc } from './problems/tsc.js';
import type { Runner, RunRequest } from './project/runner.js';
import type { ProblemReport, TestReport } from './report.js';
import { TEST_RUNNERS } from './test-runners/index.js';

type AnyReport = ProblemReport | TestReport;

const RUNNERS: readonly Runner<AnyReport>[] = [
  biome,
  eslint,
  ruff,
  clippy,
  goVet,
  tsc,
  mypy,
  cargoCheck,
  goBuild,
  lintScript,
  ...TEST_RUNNERS,
];

const REQUEST: RunRequest = {
  root: '/p',
  target: undefined,
  isTargetFile: false,
  filter: undefined,
  fix: false,
  mark: RECORDED_MARK,
};

/** Lines that mean something to one of the parsers, and what is near them. */
const line = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    'a.ts(1,2): error TS1: x',
    '  and why',
    'x.go:1:2: y',
    '{',
    '}',
    '{}',
    '{"reason":"build-finished","success":true}',
    'test a ... FAILED',
    '---- a stdout ----',
    'failures:',
    'test result: FAILED. 0 passed',
    '{"Action":"fail","Package":"p","Test":"T"}',
    '\u0001ethos-test {"told":1}',
    '\u0001ethos-test {"told":1,"collected":1}',
    '\u0001ethos-test {"names":["__proto__"],"failed":true,"skip":false,"todo":false}',
    '{"numTotalTestSuites":1,"testResults":[]}',
    '{"numFailedTestSuites":1,"testResults":[{"name":"x","status":"failed","assertionResults":[]}]}',
    '\u0001ethos-test report',
    '\u0001ethos-test end',
    '<?xml version="1.0"?><testsuites><testsuite name="a"><testcase name="b"/></testsuite></testsuites>',
    '<testcase name="__proto__"><failure>',
    '{"summary":{"example_count":0},"examples":[]}',
    'TAP version 14',
    '1..2',
    'ok 1 - a # SKIP',
    'not ok 2 - b',
    '    ok 1 - inner',
    '  ---',
    '  at: [',
    '  ...',
    'Bail out!',
    '{\n  "stats": {"passes":0,"pending":0,"failures":0},"passes":[],"pending":[],"failures":[]\n}',
    '\u0001ethos-test {"id":"a.py::b","outcome":"failed"}',
    '\u0001ethos-test {"id":"","outcome":"passed","line":1,"file":null,"seconds":1e99}',
  ),
);

function reportOf<R>(
  parser: OutputParser<R>,
  output: { stdout: string; stderr: string },
  cuts: readonly number[],
  exitCode: number,
): R | undefined {
  for (const stream of ['stdout', 'stderr'] as const) {
    const text = output[stream];
    const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
    let from = 0;
    for (const place of [...places, text.length]) {
      parser.add(text.slice(from, place), stream);
      from = place;
    }
  }
  return parser.end(exitCode);
}

describe.each(RUNNERS.map((runner) => [runner.title, runner] as const))('%s', (name, runner) => {
  fuzz(
    `the parser of ${name} takes anything, and in any pieces`,
    fc.record({
      lines: fc.array(line, { maxLength: 30 }),
      cuts: fc.array(fc.nat(), { maxLength: 6 }),
      exitCode: fc.nat(3),
    }),
    ({ lines, cuts, exitCode }) => {
      const output = { stdout: lines.join('\n'), stderr: '' };
      const whole = reportOf(runner.parser(REQUEST), output, [], exitCode);
      const pieces = reportOf(runner.parser(REQUEST), output, cuts, exitCode);
      assert.deepEqual(pieces, whole);
    },
    { runs: { check: 30, long: 20_000 } },
  );
});

describe.each(RECORDED_RUNS.map((run) => [run.runner, run] as const))(
  '%s, cut off',
  (name, run) => {
    const runner = RUNNERS.find((each) => each.name === name);
    fuzz(
      `a report of ${name} that ends early is none, or still holds something that is wrong`,
      fc.nat(),
      (at) => {
        assert(runner !== undefined);
        const { stdout, stderr } = outputOf(run);
        const end = at % (stdout.length + stderr.length + 1);
        const output = {
          stdout: stdout.slice(0, end),
          stderr: stderr.slice(0, Math.max(end - stdout.length, 0)),
        };
        // The output ends early, as when a run was killed.
        const report = reportOf(runner.parser(REQUEST), output, [], 101);
        if (report === undefined || report.problems.length > 0) return;
        assert('tests' in report);
      },
      { runs: { check: 30, long: 20_000 } },
    );
  },
);
