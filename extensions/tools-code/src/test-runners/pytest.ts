import { z } from 'zod';
import { markedLines } from '../output/marked-lines.js';
import type { OutputParser } from '../output/output-parser.js';
import { parseJson } from '../output/parse-json.js';
import { IN_ENVIRONMENT, pythonEnvironment } from '../project/python-tool.js';
import type { Runner } from '../project/runner.js';
import type { TestCase, TestReport } from '../report.js';

const MAX_TESTS = 100_000;

// Its own reports go to files, which a run that is stopped would leave behind. A plugin writes each
// result as a line of JSON to what was standard output before pytest captured it. Tests could write
// there too, so the lines have a mark that no test is given, and the last one says how many they are.
const WITH_PLUGIN = `
import json, os, sys
${IN_ENVIRONMENT}
import pytest

class Results:
    def __init__(self, mark):
        self.start = '\\n\\x01' + mark + ' '
        self.out = os.dup(1)
        self.count = 0

    def write(self, result):
        data = (self.start + json.dumps(result) + '\\n').encode()
        while data:
            data = data[os.write(self.out, data):]
        self.count += 1

mark = sys.argv.pop(2)
results = Results(mark)
sys.orig_argv = [arg for arg in getattr(sys, 'orig_argv', []) if arg != mark]
del mark

def failure(report):
    crash = getattr(report.longrepr, 'reprcrash', None)
    return {'message': getattr(crash, 'message', ''), 'stack': report.longreprtext[:20000]}

class Plugin:
    def pytest_collectreport(self, report):
        if report.failed:
            results.write({'id': report.nodeid, 'outcome': 'failed', 'failure': failure(report)})

    def pytest_runtest_logreport(self, report):
        if report.when != 'call' and (report.passed or (report.when == 'teardown' and report.skipped)):
            return
        file, line, _ = report.location
        results.write({
            'id': report.nodeid, 'file': file, 'line': line, 'when': report.when,
            'outcome': report.outcome, 'seconds': report.duration,
            'failure': failure(report) if report.failed else None,
        })

    def pytest_sessionfinish(self, session):
        if not hasattr(session.config, 'workerinput'):
            results.write({'told': results.count, 'collected': session.testscollected})

sys.exit(int(pytest.main(sys.argv[2:], plugins=[Plugin()])))
`;

const result = z.object({
  id: z.string(),
  file: z.string().nullish(),
  line: z.int().nullish(),
  when: z.string().optional(),
  outcome: z.string(),
  seconds: z.number().optional(),
  failure: z.object({ message: z.string(), stack: z.string() }).nullish(),
});

const end = z.object({ told: z.int(), collected: z.int() });

/** Runs pytest with our own plugin, and reads its lines. */
export const pytest: Runner<TestReport> = {
  name: 'pytest',
  title: 'pytest',
  language: 'python',
  signs: {
    files: ['pytest.ini', '.pytest.ini', 'conftest.py'],
    pyproject: 'pytest',
    fallback: ['pyproject.toml', 'setup.py', 'requirements.txt', 'tox.ini'],
  },
  async commands({ root, target, filter, mark }, files) {
    const environment = await pythonEnvironment(files, root, 'pytest');
    const args = [
      '-c',
      WITH_PLUGIN,
      environment ?? '',
      mark,
      '-q',
      '--color=no',
      '--continue-on-collection-errors',
      ...(filter === undefined ? [] : [`-k${filter}`]),
      ...(target === undefined ? [] : [target]),
    ];
    const missing = /No module named '?pytest'?$/;
    return [{ binary: 'python3', args, cwd: root, missing }];
  },
  parser: ({ mark }) => pytestParser(mark),
};

function pytestParser(mark: string): OutputParser<TestReport> {
  const tests: TestCase[] = [];
  const ids = new Set<string>();
  let told = 0;
  let ended: z.output<typeof end> | undefined;
  const lines = markedLines(mark, (json) => {
    ended ??= parseJson(end, json);
    const found = parseJson(result, json);
    if (found === undefined) return;
    told += 1;
    ids.add(found.id);
    if (tests.length < MAX_TESTS) tests.push(testOf(found));
  });
  return {
    add: (text, stream) => {
      if (stream === 'stdout') lines.add(text);
    },
    end(exitCode) {
      lines.end();
      if (ended === undefined || ended.told !== told) return undefined;
      // A run that stops early, as with -x, has not passed.
      const isWhole = ids.size >= ended.collected || exitCode !== 0;
      return isWhole ? { tests, problems: [] } : undefined;
    },
  };
}

function testOf({
  id,
  file,
  line,
  when,
  outcome,
  seconds,
  failure,
}: z.output<typeof result>): TestCase {
  // `tests/test_a.py::TestMore::test_x[1]`; of a file that can't be loaded, the file alone.
  const [place = '', ...names] = id.split('::');
  const name = names.length === 0 ? '(file)' : names.join(' > ');
  return {
    name: when === 'teardown' ? `${name} (teardown)` : name,
    file: file ?? place,
    // pytest counts lines from 0.
    ...(typeof line === 'number' && { line: line + 1 }),
    status: outcome === 'passed' ? 'passed' : outcome === 'skipped' ? 'skipped' : 'failed',
    ...(seconds !== undefined && { durationMs: Math.round(seconds * 1_000) }),
    ...(failure && { failure: failureOf(failure) }),
  };
}

function failureOf({
  message,
  stack,
}: {
  message: string;
  stack: string;
}): NonNullable<TestCase['failure']> {
  // Without the place of the crash, the last line of the error has the message.
  const lastError = stack.split('\n').findLast((line) => line.startsWith('E '));
  const short = message || lastError?.slice(1).trim() || stack.trim();
  return { message: short, ...(stack.trim() !== '' && short !== stack.trim() && { stack }) };
}
