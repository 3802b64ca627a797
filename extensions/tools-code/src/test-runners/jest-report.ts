import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { LineReader } from '../output/line-reader.js';
import type { OutputParser } from '../output/output-parser.js';
import { parseJson } from '../output/parse-json.js';
import type { TestCase, TestReport, TestStatus } from '../report.js';

const report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().default(''),
      assertionResults: z.array(
        z.object({
          ancestorTitles: z.array(z.string()),
          title: z.string(),
          status: z.string(),
          duration: z.number().nullish(),
          failureMessages: z.array(z.string()).nullish(),
          location: z.object({ line: z.int() }).nullish(),
        }),
      ),
    }),
  ),
});

const STATUSES: Readonly<Record<string, TestStatus>> = {
  passed: 'passed',
  failed: 'failed',
  todo: 'todo',
};

/**
 * Reads the report that Jest and Vitest write as one line of JSON. Text that tests print comes
 * before it, and may be on the same line.
 *
 * @param start the text that the report begins with
 */
export function jestReportParser(start: string): OutputParser<TestReport> {
  let last: string | undefined;
  const lines = new LineReader((line) => {
    const at = line.lastIndexOf(start);
    if (at !== -1) last = line.slice(at);
  });
  return {
    add: (text, stream) => {
      if (stream === 'stdout') lines.add(text);
    },
    end() {
      lines.end();
      const found = last === undefined ? undefined : parseJson(report, last);
      return found && { tests: found.testResults.flatMap(testsOf), problems: [] };
    },
  };
}

function testsOf(file: z.output<typeof report>['testResults'][number]): TestCase[] {
  const tests = file.assertionResults.map((test): TestCase => {
    const { ancestorTitles, title, status, duration, failureMessages, location } = test;
    return {
      name: [...ancestorTitles, title].filter((part) => part !== '').join(' > '),
      file: file.name,
      ...(location && { line: location.line }),
      status: STATUSES[status] ?? 'skipped',
      ...(typeof duration === 'number' && { durationMs: Math.round(duration) }),
      ...(status === 'failed' && { failure: failureOf((failureMessages ?? []).join('\n\n')) }),
    };
  });
  const isLoaded = file.status !== 'failed' || tests.some(({ status }) => status === 'failed');
  if (isLoaded) return tests;
  return [
    ...tests,
    { name: '(file)', file: file.name, status: 'failed', failure: failureOf(file.message) },
  ];
}

/** Separates the message of an error from its stack. */
export function failureOf(text: string): { message: string; stack?: string } {
  const plain = stripVTControlCharacters(text).trim();
  const at = plain.search(/^\s+at .+/m);
  if (at === -1) return { message: plain };
  return { message: plain.slice(0, at).trimEnd(), stack: plain.slice(at).replace(/^\n+/, '') };
}

/** Returns a regular expression that matches exactly this text. */
export function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
