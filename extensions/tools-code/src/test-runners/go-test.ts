import { z } from 'zod';
import { LineReader } from '../output/line-reader.js';
import type { OutputParser } from '../output/output-parser.js';
import { parseJson } from '../output/parse-json.js';
import { addGoProblem, goPackages, goProblem } from '../problems/go.js';
import type { Runner } from '../project/runner.js';
import type { Problem, TestCase, TestReport, TestStatus } from '../report.js';
import { literally } from './jest-report.js';

const MAX_TESTS = 100_000;
const MAX_FAILURE_CHARS = 20_000;
const MAX_NAME_CHARS = 1_000;
/** How many tests may run at the same time, and how much of their output is kept. */
const MAX_RUNNING = 20_000;
const MAX_RUNNING_CHARS = 20_000_000;
/** How deep a test may be in groups that are told from tests. */
const MAX_DEPTH = 50;
const NOTHING_SAID = 'it failed, and said nothing';

// https://pkg.go.dev/cmd/test2json
const event = z.object({
  Action: z.string(),
  Package: z.string().optional(),
  ImportPath: z.string().optional(),
  Test: z.string().optional(),
  Elapsed: z.number().optional(),
  Output: z.string().optional(),
});

const STATUSES: Readonly<Record<string, TestStatus>> = {
  pass: 'passed',
  fail: 'failed',
  skip: 'skipped',
};

/** Runs `go test`, and reads its JSON events. */
export const goTest: Runner<TestReport> = {
  name: 'go-test',
  title: 'go test',
  language: 'go',
  signs: { files: ['go.mod'] },
  async commands(request) {
    const { filter, root } = request;
    // Go writes the spaces in the names of tests as underscores.
    const run = filter === undefined ? [] : [`-run=${literally(filter.replaceAll(' ', '_'))}`];
    return [{ binary: 'go', args: ['test', '-json', ...run, goPackages(request)], cwd: root }];
  },
  parser: () => goTestParser(),
};

export function goTestParser(): OutputParser<TestReport> {
  const tests: TestCase[] = [];
  const problems: Problem[] = [];
  const outputs = new RunningOutputs();
  /** The packages that have a failed test. */
  const failed = new Set<string>();
  let ended = 0;
  const take = (found: z.output<typeof event>) => {
    const { Action, Package = '', Output, Elapsed } = found;
    const Test = found.Test?.slice(0, MAX_NAME_CHARS);
    const key = `${Package} ${Test ?? ''}`;
    if (Action === 'build-output') addProblem(problems, Output ?? '');
    if (Action === 'output') outputs.add(key, Output ?? '');
    const status = STATUSES[Action];
    if (status === undefined) return;
    const output = outputs.take(key);
    if (Test === undefined) ended += 1;
    const test =
      Test === undefined
        ? packageTest(found, { status, output, isTold: failed.has(Package) })
        : testOf({ Package, Test }, { status, output });
    if (test === undefined || tests.length >= MAX_TESTS) return;
    if (Elapsed !== undefined) test.durationMs = Math.round(Elapsed * 1000);
    tests.push(test);
    if (status === 'failed') failed.add(Package);
  };
  const lines = new LineReader((line) => {
    const found = line.startsWith('{') ? parseJson(event, line) : undefined;
    if (found !== undefined) take(found);
    else addProblem(problems, line);
  });
  // Two readers, so that lines of the two streams do not mix.
  const errors = new LineReader((line) => addProblem(problems, line));
  return {
    add: (text, stream) => (stream === 'stdout' ? lines : errors).add(text),
    end(exitCode) {
      lines.end();
      errors.end();
      const told = withoutGroups(tests);
      if (ended === 0 && problems.length === 0 && exitCode !== 0) return undefined;
      return { tests: told, problems };
    },
  };
}

/** The outputs of the tests that run. Those of tests that never end do not fill the memory. */
class RunningOutputs {
  readonly #outputs = new Map<string, string>();
  #chars = 0;

  add(key: string, output: string): void {
    const before = this.#outputs.get(key);
    if (before === undefined && this.#outputs.size >= MAX_RUNNING) return;
    const room = MAX_FAILURE_CHARS - (before ?? '').length;
    const kept = output.slice(0, Math.min(room, MAX_RUNNING_CHARS - this.#chars));
    this.#chars += kept.length;
    this.#outputs.set(key, (before ?? '') + kept);
  }

  /** Returns the output of a test that has ended. */
  take(key: string): string {
    const output = this.#outputs.get(key) ?? '';
    this.#chars -= output.length;
    this.#outputs.delete(key);
    return output;
  }
}

function addProblem(problems: Problem[], line: string): void {
  addGoProblem(problems, goProblem(line.trimEnd()));
}

function testOf(
  { Package, Test }: { Package: string; Test: string },
  { status, output }: { status: TestStatus; output: string },
): TestCase {
  return {
    name: Test.replaceAll('/', ' > '),
    file: Package,
    status,
    ...(status === 'failed' && { failure: { message: messageOf(output) } }),
  };
}

/**
 * Makes a failed test for a package that failed without a failed test: a panic, an exit, a bad
 * set-up.
 */
function packageTest(
  { Package = '' }: z.output<typeof event>,
  { status, output, isTold }: { status: TestStatus; output: string; isTold: boolean },
): TestCase | undefined {
  if (status !== 'failed' || isTold || output.includes('[build failed]')) return undefined;
  return { name: '(package)', file: Package, status, failure: { message: messageOf(output) } };
}

function messageOf(output: string): string {
  const lines = output
    .split('\n')
    .filter((line) => !/^\s*(=== (RUN|PAUSE|CONT|NAME)|--- (FAIL|PASS|SKIP):)/.test(line));
  return lines.join('\n').trim() || NOTHING_SAID;
}

/** Leaves out tests that only group others, unless they have a failure of their own. */
function withoutGroups(tests: readonly TestCase[]): TestCase[] {
  const groups = new Map(
    tests.map(({ name, file }) => [`${file} ${name}`, { hasTests: false, hasFailed: false }]),
  );
  for (const { name, file, status } of tests) {
    const parts = name.split(' > ');
    for (let depth = Math.min(parts.length - 1, MAX_DEPTH); depth > 0; depth -= 1) {
      const group = groups.get(`${file} ${parts.slice(0, depth).join(' > ')}`);
      if (group === undefined) continue;
      group.hasTests = true;
      group.hasFailed ||= status === 'failed';
    }
  }
  return tests.filter(({ name, file, status, failure }) => {
    const group = groups.get(`${file} ${name}`);
    if (group?.hasTests !== true || status === 'skipped') return true;
    return status === 'failed' && !(group.hasFailed && failure?.message === NOTHING_SAID);
  });
}
