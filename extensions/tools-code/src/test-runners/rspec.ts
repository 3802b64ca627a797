import { z } from 'zod';
import { parseJson } from '../output/parse-json.js';
import type { Runner } from '../project/runner.js';
import { runPlainCommand } from '../project/script-run.js';
import type { TestCase, TestReport, TestStatus } from '../report.js';
import { fileParser, intoFile } from './report-file.js';

const report = z.object({
  examples: z.array(
    z.object({
      full_description: z.string(),
      status: z.string(),
      file_path: z.string().nullish(),
      line_number: z.int().nullish(),
      run_time: z.number().nullish(),
      exception: z
        .object({
          class: z.string().nullish(),
          message: z.string().nullish(),
          backtrace: z.array(z.string()).nullish(),
        })
        .nullish(),
    }),
  ),
  messages: z.array(z.string()).optional(),
  summary: z.object({
    example_count: z.int(),
    errors_outside_of_examples_count: z.int().default(0),
  }),
});

const STATUSES: Readonly<Record<string, TestStatus>> = { passed: 'passed', failed: 'failed' };

/** Runs RSpec, and reads its JSON report. */
export const rspec: Runner<TestReport> = {
  name: 'rspec',
  title: 'RSpec',
  language: 'ruby',
  signs: { files: ['.rspec'], mentioned: { file: 'Gemfile', word: /\brspec\b/ } },
  async commands({ root, target, filter, mark }, files) {
    const last = [
      '--no-color',
      '--format=progress',
      ...(filter === undefined ? [] : [`--example=${filter}`]),
      ...(target === undefined ? [] : [target]),
    ];
    const around = intoFile('--format=json --out "$f"', mark);
    const names = (await files.names(root)) ?? new Set<string>();
    const ways = names.has('Gemfile') ? ['bundle exec rspec', 'rspec'] : ['rspec'];
    return Promise.all(
      ways.map((command) => runPlainCommand(files, { root, command }, { last, around })),
    );
  },
  parser: ({ mark }) =>
    fileParser(mark, (text) => {
      const found = parseJson(report, text.trim());
      if (found === undefined) return undefined;
      const { examples, summary, messages = [] } = found;
      if (summary.example_count !== examples.length) return undefined;
      const tests = examples.map(testOf);
      // A file that does not load is in its messages alone.
      if (summary.errors_outside_of_examples_count > 0) {
        tests.push({
          name: '(file)',
          status: 'failed',
          failure: { message: messages.join('\n').trim() || 'an error outside of any test' },
        });
      }
      return { tests, problems: [] };
    }),
};

function testOf(example: z.output<typeof report>['examples'][number]): TestCase {
  const { full_description: name, status, file_path: file, line_number: line } = example;
  const { run_time: seconds, exception } = example;
  const stack = (exception?.backtrace ?? []).join('\n');
  return {
    name,
    ...(typeof file === 'string' && { file }),
    ...(typeof line === 'number' && { line }),
    status: STATUSES[status] ?? 'skipped',
    ...(typeof seconds === 'number' && { durationMs: Math.round(seconds * 1000) }),
    ...(status === 'failed' && {
      failure: {
        message: exception?.message?.trim() || 'it failed, and said nothing',
        ...(stack !== '' && { stack }),
      },
    }),
  };
}
