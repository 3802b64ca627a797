import { Parser } from 'htmlparser2';
import type { TestCase, TestStatus } from '../report.js';
import { failureOf } from './jest-report.js';

const MAX_TESTS = 100_000;

/** How a runner uses JUnit's format in its own way. */
export interface JunitStyle {
  /** Returns the file of a test, when it is not in the attribute `file`. */
  fileOf?: (test: { classname: string; suite: string }) => string | undefined;
  /** Returns the name of a test. When absent, it is the name of the class and that of the test. */
  nameOf?: (test: { name: string; classname: string }) => string;
}

/** Reads the tests of a report in JUnit's XML format; `undefined` when the report is incomplete. */
export function junitTests(xml: string, style: JunitStyle = {}): TestCase[] | undefined {
  const tests: TestCase[] = [];
  const suites: string[] = [];
  let test: TestCase | undefined;
  let said: string | undefined;
  let message = '';
  let depth = 0;
  let hasSuite = false;
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        depth += 1;
        if (tag === 'testsuite' || tag === 'testsuites') {
          hasSuite = true;
          suites.push(attributes.file ?? attributes.name ?? '');
        } else if (tag === 'testcase') test = testOf(attributes, suites.at(-1) ?? '', style);
        else if (test !== undefined) {
          const status = statusOf(tag, attributes.message ?? '');
          if (status === undefined) return;
          test.status = status;
          message = attributes.message ?? '';
          said = status === 'failed' ? '' : undefined;
        }
      },
      ontext(text) {
        if (said !== undefined && said.length < 20_000) said += text;
      },
      onclosetag(tag) {
        depth -= 1;
        if (tag === 'testsuite' || tag === 'testsuites') suites.pop();
        if (test === undefined) return;
        if ((tag === 'failure' || tag === 'error') && said !== undefined) {
          test.failure = failureFrom(message, said);
          said = undefined;
        }
        if (tag !== 'testcase') return;
        if (tests.length < MAX_TESTS) tests.push(test);
        test = undefined;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(xml);
  // The parser closes what is open when it ends.
  const isWhole = depth === 0 && hasSuite;
  parser.end();
  return isWhole ? tests : undefined;
}

/** Makes a failed test for a test file that did not load. The report has nothing else about it. */
export function unloadedFile(file: string): TestCase {
  const message = 'an error outside of any test; give the path of this file to see it';
  return { name: '(file)', file, status: 'failed', failure: { message } };
}

function testOf(
  attributes: Readonly<Record<string, string>>,
  suite: string,
  { fileOf, nameOf }: JunitStyle,
): TestCase {
  const { name = '', classname = '', line, time } = attributes;
  const file = attributes.file ?? fileOf?.({ classname, suite });
  const seconds = Number(time);
  return {
    name: nameOf?.({ name, classname }) ?? [classname, name].filter(Boolean).join(' > '),
    ...(file !== undefined && file !== '' && { file }),
    ...(line !== undefined && /^\d{1,9}$/.test(line) && { line: Number(line) }),
    status: 'passed',
    ...(time !== undefined &&
      Number.isFinite(seconds) && { durationMs: Math.round(seconds * 1000) }),
  };
}

function statusOf(tag: string, message: string): TestStatus | undefined {
  if (tag === 'failure' || tag === 'error') return 'failed';
  if (tag !== 'skipped') return undefined;
  return message === 'TODO' ? 'todo' : 'skipped';
}

function failureFrom(message: string, text: string): NonNullable<TestCase['failure']> {
  const body = text.trim();
  if (body === '') return { message: message || 'it failed, and said nothing' };
  return failureOf(body.includes(message) ? body : `${message}\n${body}`);
}
