import { describe, expect, it } from 'vitest';
import { goTestParser } from './go-test.js';
import { fileParser } from './report-file.js';
import { tapParser } from './tap-report.js';

const MiB = 1024 * 1024;

it.each([
  [64, undefined],
  [63, 63 * MiB],
])('of a report of %i MiB is read %j', (size, read) => {
  const parser = fileParser('mark', (text) => text.length);
  const line = `${'x'.repeat(MiB - 1)}\n`;
  parser.add('\u0001mark report\n', 'stdout');
  for (let at = 0; at < size; at += 1) parser.add(line, 'stdout');
  parser.add('\n\u0001mark end\n', 'stdout');
  expect(parser.end(0)).toBe(read === undefined ? undefined : read + 1);
});

it('reads TAP around a long line that comes in pieces', () => {
  const parser = tapParser();
  const piece = 'x'.repeat(MiB / 16);
  parser.add('TAP version 13\nok 1 - a\n', 'stdout');
  for (let at = 0; at < 2_000; at += 1) parser.add(piece, 'stdout');
  parser.add('\nok 2 - b\n1..2\n', 'stdout');
  expect(parser.end(0)?.tests.map(({ name }) => name)).toEqual(['a', 'b']);
});

it.each([
  ['a.js:1:2', 'a.js', 1],
  ['t.test (file:///w/a.js:3:4)', '/w/a.js', 3],
  ['Object.<anonymous> (/w/a.js:5:6)', '/w/a.js', 5],
  ['nowhere', undefined, undefined],
  [`${'a:1:1'.repeat(100_000)}!`, undefined, undefined],
  [`a:1:1${' '.repeat(100_000)}!`, undefined, undefined],
])('reads the place of a failure in TAP, case %#', (at, file, line) => {
  const parser = tapParser();
  parser.add(`TAP version 13\nnot ok 1 - a\n  ---\n  at: "${at}"\n  ...\n1..1\n`, 'stdout');
  const [test] = parser.end(1)?.tests ?? [];
  expect(test).toMatchObject({ name: 'a', status: 'failed' });
  expect([test?.file, test?.line]).toEqual([file, line]);
});

it('comes to an end with a test of Go in very many groups', () => {
  const parser = goTestParser();
  const say = (event: object) =>
    parser.add(`${JSON.stringify({ Package: 'p', ...event })}\n`, 'stdout');
  say({ Action: 'fail', Test: 'a/'.repeat(500_000) });
  say({ Action: 'fail', Test: 'a' });
  say({ Action: 'pass', Test: 'b' });
  say({ Action: 'fail' });
  const tests = parser.end(1)?.tests ?? [];
  expect(tests.map(({ name }) => name)).toEqual([expect.stringMatching(/^a > a > a/), 'b']);
  expect(tests[0]?.name.length).toBeLessThan(5_000);
});

describe('of an output of Go without end, the parser', () => {
  it('keeps the messages of as many tests as may run at the same time', () => {
    const parser = goTestParser();
    const say = (event: object) => parser.add(`${JSON.stringify(event)}\n`, 'stdout');
    const names = Array.from({ length: 20_001 }, (_, at) => `t${at}`);
    for (const Test of names) say({ Action: 'output', Test, Output: `${Test} says why` });
    for (const Test of names) say({ Action: 'fail', Test });
    say({ Action: 'output', Test: 'later', Output: 'later says why' });
    say({ Action: 'fail', Test: 'later' });
    say({ Action: 'fail' });
    const messages = parser.end(1)?.tests.map(({ failure }) => failure?.message) ?? [];
    expect(messages.at(0)).toBe('t0 says why');
    expect(messages.at(-2)).toBe('it failed, and said nothing');
    expect(messages.at(-1)).toBe('later says why');
  });

  it('keeps a part of a long message, and of all messages', () => {
    const parser = goTestParser();
    const say = (event: object) => parser.add(`${JSON.stringify(event)}\n`, 'stdout');
    const names = Array.from({ length: 1_002 }, (_, at) => `t${at}`);
    const Output = 'x'.repeat(30_000);
    for (const Test of names) say({ Action: 'output', Test, Output });
    for (const Test of names) say({ Action: 'fail', Test });
    say({ Action: 'fail' });
    const lengths = parser.end(1)?.tests.map(({ failure }) => failure?.message.length) ?? [];
    expect(lengths.at(0)).toBe(20_000);
    expect(lengths.at(-1)).toBe('it failed, and said nothing'.length);
  });

  it('keeps 20,000 problems', () => {
    const parser = goTestParser();
    parser.add('a.go:1:1: x\n'.repeat(20_001), 'stdout');
    expect(parser.end(1)?.problems).toHaveLength(20_000);
  });
});
