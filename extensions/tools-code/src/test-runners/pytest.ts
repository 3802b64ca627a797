import { z } from 'zod';
import { LineReader } from '../output/line-reader.js';
import type { OutputParser } from '../output/output-parser.js';
import { parseJson } from '../output/parse-json.js';
import { IN_ENVIRONMENT, pythonEnvironment } from '../project/python-tool.js';
import type { Runner } from '../project/runner.js';
import type { TestCase, TestReport } from '../report.js';

const MAX_TESTS = 100_000;

/** The mark of the plugin's lines, among what pytest and the tests print. */
const MARK = '\u0001ethos-test ';

// Its own reports go to files, which a run that is stopped would leave behind. A plugin writes each
// result as a line of JSON to what was standard output before pytest captured it.
const WITH_PLUGIN = `
import json, os, sys
${IN_ENVIRONMENT}
import pytest

out = os.dup(1)

def write(result):
    data = ('\\n\\x01ethos-test ' + json.dumps(result) + '\\n').encode()
    while data:
        data = data[os.write(out, data):]

def failure(report):
    crash = getattr(report.longrepr, 'reprcrash', None)
    return {'message': getattr(crash, 'message', ''), 'stack': report.longreprtext[:20000]}

class Plugin:
    def pytest_collectreport(self, report):
        if report.failed:
            write({'id': report.nodeid, 'outcome': 'failed', 'failure': failure(report)})

    def pytest_runtest_logreport(self, report):
        if report.when != 'call' and (report.passed or (report.when == 'teardown' and report.skipped)):
            return
        file, line, _ = report.location
        write({
            'id': report.nodeid, 'file': file, 'line': line, 'when': report.when,
            'outcome': report.outcome, 'seconds': report.duration,
            'failure': failure(report) if report.failed else None,
        })

    def pytest_sessionfinish(self, session):
        if not hasattr(session.config, 'workerinput'):
            write('end')

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

/** pytest, by a plugin of its own. */
export const pytest: Runner<TestReport> = {
  name: 'pytest',
  title: 'pytest',
  language: 'python',
  signs: {
    files: ['pytest.ini', '.pytest.ini', 'conftest.py'],
    pyproject: 'pytest',
    fallback: ['pyproject.toml', 'setup.py', 'requirements.txt', 'tox.ini'],
  },
  async commands({ root, target, filter }, files) {
    const environment = await pythonEnvironment(files, root, 'pytest');
    const args = [
      '-c',
      WITH_PLUGIN,
      environment ?? '',
      '-q',
      '--color=no',
      '--continue-on-collection-errors',
      ...(filter === undefined ? [] : [`-k${filter}`]),
      ...(target === undefined ? [] : [target]),
    ];
    const missing = /No module named '?pytest'?$/;
    return [{ binary: 'python3', args, cwd: root, missing }];
  },
  parser: () => pytestParser(),
};

export function pytestParser(): OutputParser<TestReport> {
  const tests: TestCase[] = [];
  let ended = false;
  const lines = new LineReader((line) => {
    const at = line.lastIndexOf(MARK);
    if (at === -1) return;
    const json = line.slice(at + MARK.length);
    if (json === '"end"') ended = true;
    const found = parseJson(result, json);
    if (found !== undefined && tests.length < MAX_TESTS) tests.push(testOf(found));
  });
  return {
    add: (text, stream) => {
      if (stream === 'stdout') lines.add(text);
    },
    end() {
      lines.end();
      return ended ? { tests, problems: [] } : undefined;
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
    // It counts from 0.
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
  // Where there is no place of the crash, the last line of the error says it.
  const lastError = stack.split('\n').findLast((line) => line.startsWith('E '));
  const short = message || lastError?.slice(1).trim() || stack.trim();
  return { message: short, ...(stack.trim() !== '' && short !== stack.trim() && { stack }) };
}
