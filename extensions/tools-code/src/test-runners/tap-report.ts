import { Parser, type Result } from 'tap-parser';
import { z } from 'zod';
import { LineReader } from '../output/line-reader.js';
import type { OutputParser } from '../output/output-parser.js';
import type { TestCase, TestReport, TestStatus } from '../report.js';
import { failureOf } from './jest-report.js';

const MAX_TESTS = 100_000;

const diagnosis = z.object({
  message: z.string().optional(),
  name: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional().catch(undefined),
  stack: z.string().optional(),
  diff: z.string().optional(),
  operator: z.string().optional(),
  expected: z.unknown().optional(),
  actual: z.unknown().optional(),
  at: z
    .union([
      z.string(),
      z.object({ fileName: z.string().optional(), lineNumber: z.int().optional() }),
    ])
    .optional()
    .catch(undefined),
});

/** Reads the Test Anything Protocol. Each assertion without others below it counts as a test. */
export function tapParser(): OutputParser<TestReport> {
  const tests: TestCase[] = [];
  let version = false;
  let planned = false;
  let bailed = false;
  const parser = new Parser();
  parser.on('version', () => {
    version = true;
  });
  parser.on('result', (result: Result) => {
    if (tests.length < MAX_TESTS) tests.push(testOf(result));
  });
  parser.on('plan', () => {
    planned = true;
  });
  parser.on('bailout', () => {
    bailed = true;
  });
  // The parser gets whole lines. It would search a partial line again with each piece.
  const lines = new LineReader((line) => parser.write(`${line}\n`));
  return {
    add: (text, stream) => {
      if (stream === 'stdout') lines.add(text);
    },
    end() {
      lines.end();
      parser.end();
      // Without a plan, the report may be incomplete.
      if (!version || !planned || bailed) return undefined;
      return { tests, problems: [] };
    },
  };
}

function testOf(result: Result): TestCase {
  const status = statusOf(result);
  const [file, line] = placeOf(result);
  return {
    name: result.fullname || result.name || `(number ${result.id})`,
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    status,
    ...(typeof result.time === 'number' && { durationMs: Math.round(result.time) }),
    ...(status === 'failed' && { failure: failureOf(saidOf(result)) }),
  };
}

function statusOf({ ok, skip, todo }: Result): TestStatus {
  if (todo) return 'todo';
  if (skip) return 'skipped';
  return ok ? 'passed' : 'failed';
}

function placeOf({ diag }: Result): [file?: string | undefined, line?: number | undefined] {
  const { at } = diagnosis.safeParse(diag).data ?? {};
  if (typeof at === 'object') return [at.fileName, at.lineNumber];
  // Only the last word is searched. In a long text, the search would begin again at each character.
  const place = (at ?? '')
    .trim()
    .split(/[\s()]+/)
    .findLast((word) => word !== '');
  const found = /^(?:file:\/\/)?(.+):(\d+):\d+$/.exec(place ?? '');
  return found?.[1] === undefined ? [] : [found[1], Number(found[2])];
}

function saidOf({ diag, name, tapError }: Result): string {
  const found: Partial<z.output<typeof diagnosis>> = diagnosis.safeParse(diag).data ?? {};
  const { message, stack, diff, operator, expected, actual, details, name: kind } = found;
  const compared =
    diff ??
    (operator === undefined
      ? undefined
      : `${operator}: expected ${shown(expected)}, actual ${shown(actual)}`);
  const more = Object.entries(details ?? {}).map(([what, value]) => `${what} ${shown(value)}`);
  const parts = [message || name, kind, compared, ...more, tapError ?? undefined, stack];
  return parts.filter((part) => part !== undefined && part !== '').join('\n');
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}
