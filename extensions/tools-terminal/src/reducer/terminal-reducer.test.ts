import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { DefaultToolRegistry, DefaultToolResultReducerRegistry } from '@ethosagent/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tellsOfFailure } from './failure-lines.js';
import { reduceOutput, terminalReducer } from './terminal-reducer.js';

const many = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index));
const text = (...parts: (string | string[])[]) =>
  ['exit code 1 (2.0 s)', ...parts.flat()].join('\n');

describe('terminalReducer', () => {
  const cases: [what: string, command: string, output: string, has: string[], hasNot: string[]][] =
    [
      [
        'vitest',
        'npm test',
        text(
          many(400, (at) => ` ✓ src/a${at}.test.ts > works 3ms`),
          [
            ' FAIL  src/b.test.ts > adds',
            'AssertionError: expected 3 to be 4',
            '- Expected',
            '+ Received',
            ' ❯ src/b.test.ts:3:9',
            '',
            ' Test Files  1 failed | 400 passed (401)',
            '      Tests  1 failed | 400 passed (401)',
          ],
        ),
        [
          'FAIL  src/b.test.ts > adds',
          'expected 3 to be 4',
          'src/b.test.ts:3:9',
          '1 failed | 400 passed',
        ],
        ['a17.test.ts'],
      ],
      [
        'jest',
        'npx jest',
        text(
          many(300, (at) => `PASS src/a${at}.test.js`),
          [
            'FAIL src/b.test.js',
            '  ● adds',
            '    Expected: 4',
            '    Received: 3',
            'Test Suites: 1 failed, 300 passed, 301 total',
          ],
        ),
        ['FAIL src/b.test.js', 'Received: 3', 'Test Suites: 1 failed'],
        ['PASS src/a'],
      ],
      [
        'node:test',
        'node --test',
        text(
          many(300, (at) => `✔ works ${at} (0.1ms)`),
          [
            '✖ adds (0.4ms)',
            '  AssertionError [ERR_ASSERTION]: 3 !== 4',
            'ℹ tests 301',
            'ℹ pass 300',
            'ℹ fail 1',
          ],
        ),
        ['✖ adds', '3 !== 4', 'ℹ fail 1'],
        ['✔ works'],
      ],
      [
        'pytest',
        'pytest -v',
        text(
          '===== test session starts =====',
          many(300, (at) => `tests/test_a.py::test_${at} PASSED [ 10%]`),
          [
            'tests/test_b.py::test_adds FAILED [100%]',
            '____ test_adds ____',
            '>       assert 3 == 4',
            'E       assert 3 == 4',
            '==== 1 failed, 300 passed in 1.2s ====',
          ],
        ),
        ['test_adds FAILED', 'E       assert 3 == 4', '1 failed, 300 passed'],
        ['test_17 PASSED'],
      ],
      [
        'cargo test',
        'cargo test',
        text(
          'running 301 tests',
          many(300, (at) => `test a::t${at} ... ok`),
          [
            'test b::adds ... FAILED',
            "thread 'b::adds' panicked at src/lib.rs:4:9:",
            'test result: FAILED. 300 passed; 1 failed',
          ],
        ),
        ['b::adds ... FAILED', 'panicked at src/lib.rs:4:9', 'test result: FAILED'],
        ['t17 ... ok'],
      ],
      [
        'go test',
        'go test -v ./...',
        text(
          many(300, (at) => `--- PASS: Test${at} (0.00s)`),
          [
            '--- FAIL: TestAdds (0.00s)',
            '    a_test.go:9: got 3, want 4',
            'FAIL',
            'FAIL\texample.com/a\t0.1s',
          ],
        ),
        ['--- FAIL: TestAdds', 'got 3, want 4'],
        ['--- PASS'],
      ],
      [
        'npm install',
        'npm install',
        text(
          many(200, (at) => `npm warn deprecated left-pad@${at}: old`),
          ['npm error code ERESOLVE', 'npm error unable to resolve', 'added 12 packages in 3s'],
        ),
        ['npm error code ERESOLVE', 'added 12 packages'],
        ['left-pad@17'],
      ],
      [
        'tsc',
        'npx tsc',
        text(
          many(20, (at) => `src/a${at}.ts(1,2): error TS2304: Cannot find name 'x${at}'.`),
          many(200, (at) => `Checking src/c${at}.ts`),
          ['Found 20 errors in 20 files.'],
        ),
        ['src/a0.ts(1,2): error TS2304', 'src/a19.ts(1,2): error TS2304', 'Found 20 errors'],
        ['Checking src/c17'],
      ],
      [
        'git log',
        'git log',
        text(
          many(
            200,
            (at) =>
              `commit ${String(at).padStart(40, 'a')}\nAuthor: A <a@b.c>\nDate:   now\n\n    Change ${at}\n`,
          )
            .join('\n')
            .split('\n'),
        ),
        ['commit aaaa', 'Change 199'],
        ['Author: A'],
      ],
      [
        'anything else',
        './x',
        text(many(5000, (at) => `line ${at}`)),
        ['line 0', 'line 4999', 'lines left out'],
        ['line 2500\n'],
      ],
      [
        'the same again and again',
        'yes',
        text(
          many(5000, () => 'y'),
          'end',
        ),
        ['y', 'end', '4999 of 5002 lines left out'],
        ['y\ny'],
      ],
      [
        'one endless line',
        'x',
        text(`${'a'.repeat(10_000)} error: it broke ${'b'.repeat(10_000)}`),
        ['error: it broke', 'characters left out'],
        [],
      ],
    ];
  it.each(cases)('keeps what matters of %s', (_, command, output, has, hasNot) => {
    const reduced = reduceOutput(output, command);
    expect(reduced.split('\n')[0]).toBe('exit code 1 (2.0 s)');
    expect(reduced.length).toBeLessThan(output.length / 2);
    for (const part of has) expect(reduced).toContain(part);
    for (const part of hasNot) expect(reduced).not.toContain(part);
  });

  const told = [
    '1) should work',
    '  Expected: 3',
    'expected 1 to be 2',
    'make: *** [x] Fehler 2',
    'ERR_PNPM_X',
    'warning: unused',
    'src/a.ts:3:1 lint/x FIXABLE',
    'unreachable',
    'Es war nichts zu machen',
  ];
  const around: [kind: string, command: string, line: (at: number) => string][] = [
    ['tests', 'vitest run', (at) => `✓ test ${at} (1 ms)`],
    ['installs', 'npm install', (at) => `Downloading pkg-${at}`],
    ['anything', './run', (at) => `line ${at} blah`],
    ['git diff', 'git diff', (at) => ` context ${at}`],
    ['git log', 'git log', (at) => `Date: ${at}`],
  ];
  it.each(
    around.flatMap(([kind, command, other]) =>
      told.map((line) => ({ kind, command, line, other })),
    ),
  )('shows %j of a command that failed', ({ command, line, other }) => {
    const output = text(many(1500, other), line, many(1500, other));
    expect(reduceOutput(output, command)).toContain(line);
  });

  it('puts failures first', () => {
    const output = text(
      many(100, (at) => `setting up ${at}`),
      'FAIL a.test.ts > x',
      many(100, (at) => `tearing down ${at}`),
      ' Tests  1 failed',
      many(500, (at) => ` ✓ works ${at}`),
    );
    expect(reduceOutput(output, 'vitest').split('\n')[1]).toBe('setting up 98');
    expect(reduceOutput(output, 'vitest').split('\n')[3]).toBe('FAIL a.test.ts > x');
  });

  it('leaves failed results, short ones and structured data alone', () => {
    const failed = {
      ok: false as const,
      error: 'x'.repeat(5000),
      code: 'execution_failed' as const,
    };
    expect(terminalReducer.reduce(failed, { args: {}, turnCount: 1 })).toBe(failed);
    const short = { ok: true as const, value: 'exit code 0\nhello' };
    expect(terminalReducer.reduce(short, { args: {}, turnCount: 1 })).toBe(short);
    const long = {
      ok: true as const,
      value: text(many(5000, (at) => `line ${at}`)),
      structured: { exit_code: 1 },
    };
    expect(terminalReducer.reduce(long, { args: null, turnCount: 1 })).toMatchObject({
      structured: { exit_code: 1 },
    });
  });

  it('fits the registry', () => {
    const reducers = new DefaultToolResultReducerRegistry();
    reducers.register(terminalReducer);
    expect(new DefaultToolRegistry({}, reducers)).toBeDefined();
  });
});

const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ' ✓ works',
      'ok 3 - fine',
      'PASS a.test.ts',
      'Downloading x',
      'Compiling a v1',
      'plain text',
      '',
      'commit abcdef0123',
      'diff --git a/x b/x',
      'Tests  3 passed',
      '[stderr]',
      '[… 12 characters left out …]',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.string({ maxLength: 80 }).map((value) => value.replaceAll('\n', ' ')),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'FAIL a.test.ts',
      'error: broken',
      '  ● adds',
      'E   assert 1',
      'not ok 4',
      'panicked at x',
      '✖ 3 problems',
      'src/a.ts(1,1): error TS1: x',
      'Tests  1 failed',
      '0 errors',
      'npm ERR! code 1',
    ),
  },
);
const outputs = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.array(line, { maxLength: 12 }), fc.nat(80))
  .map(([first, repeated, times]) =>
    [
      'exit code 1 (1 ms)',
      ...first,
      ...Array.from({ length: times }, (_, at) =>
        repeated.map((one) => (at % 3 === 0 ? one : `${one} ${at}`)),
      ).flat(),
    ].join('\n'),
  );

describe('any output', () => {
  fuzz(
    'keeps every line that tells of a failure, or counts it, and never grows',
    fc.tuple(outputs, fc.constantFrom('npm test', 'git diff', 'npm i', 'tsc', 'x')),
    ([output, command]) => {
      const result = { ok: true as const, value: output };
      const reduced = terminalReducer.reduce(result, { args: { command }, turnCount: 1 });
      const again = terminalReducer.reduce(result, { args: { command }, turnCount: 1 });
      expect(again).toEqual(reduced);
      const value = reduced.ok ? reduced.value : '';
      expect(value.length).toBeLessThanOrEqual(output.length);
      const lines = value.split('\n');
      const note = value === output ? undefined : lines.at(-1);
      const counted = Number(/, (\d+) of which tell of failures\]$/.exec(note ?? '')?.[1] ?? 0);
      const failing = (all: string[]) => all.filter(tellsOfFailure);
      const shown = failing(note === undefined ? lines : lines.slice(0, -1));
      expect(shown.length + counted).toBe(failing(output.split('\n')).length);
    },
  );
  growsLinearly(
    'takes linear time',
    (size) => text(many(size / 20, (at) => `error 0 errors ${at} ==== passed`)),
    (output) => reduceOutput(output, 'npm test'),
  );
  growsLinearly(
    'takes linear time for one line',
    (size) => text('0 errors = passed :: '.repeat(size / 20)),
    (output) => reduceOutput(output, 'npm test'),
  );
});
