import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { judgeCommand } from './judge-command.js';
import { commandPolicySchema } from './policy-settings.js';

/*
 * What bash itself runs. `mark` is a function that only writes a word; there is no other program
 * on the `PATH`, and all text is of the pieces below.
 */
const dir = mkdtempSync(join(tmpdir(), 'real-bash-'));
mkdirSync(join(dir, 'empty'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const policy = commandPolicySchema.parse({ rules: [{ command: 'mark', decision: 'deny' }] });

const SAID = 'mark-was-run';

function bashRuns(text: string): boolean {
  const { stderr } = spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', text], {
    cwd: join(dir, 'empty'),
    env: {
      PATH: join(dir, 'empty'),
      // Every child bash knows an exported function, too.
      'BASH_FUNC_mark%%': `() { printf '${SAID}\\n' >&2; }`,
    },
    encoding: 'utf8',
    timeout: 5_000,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 20,
  });
  return stderr.split('\n').includes(SAID);
}

const piece = fc.constantFrom(
  'mark',
  'mark',
  ' mark ',
  'm',
  'ark',
  'echo ',
  'x',
  'x=1 ',
  'x=',
  ' ',
  ' ',
  '\n',
  ';',
  '; ',
  '&&',
  ' || ',
  '|',
  '&',
  "'",
  '"',
  '\\',
  '`',
  '$(',
  '(',
  ')',
  ') ',
  '{ ',
  '; }',
  '}',
  '${x',
  '${x:-',
  '${x/',
  '/',
  '$((',
  '))',
  '((',
  '$[',
  ']',
  '<(',
  '>(',
  "$'",
  '$"',
  '<<E\n',
  "<<'E'\n",
  '\nE\n',
  '<<<',
  '#',
  ' #',
  '!',
  '! ',
  '[[ ',
  ' ]]',
  '-n ',
  'if ',
  '; then ',
  '; fi',
  'case x in x) ',
  ';; esac',
  'for i in ',
  '; do ',
  '; done',
  'f() { ',
  'eval ',
  'command ',
  'exec ',
  '~',
  '*',
  '?',
  '@(',
  '!(',
  'a|b',
  '\\\n',
  '\t',
  '\r',
  '$x',
  '=',
  'a[',
  '1',
  '+',
  '{a,',
  'time ',
  'coproc ',
  'trap ',
  ' EXIT',
  'function f ',
  '\\x6d',
  'let ',
  'declare ',
  'x=(',
);
const texts = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.array(piece, { minLength: 2, maxLength: 14 }).map((pieces) => pieces.join('')),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.array(piece, { maxLength: 4 }),
        fc.constantFrom(
          'mark',
          '$(mark)',
          '`mark`',
          '"$(mark)"',
          '<(mark)',
          ';mark;',
          '\nmark\n',
          'eval mark',
        ),
        fc.array(piece, { maxLength: 4 }),
      )
      .map(([before, middle, after]) => before.join('') + middle + after.join('')),
  },
);

/** Quotes and escapes in expansions, of which bash makes another text before it runs it. */
const quoting = fc.constantFrom(
  ...[
    "$'",
    "$'",
    '$"',
    '$"',
    "'",
    '"',
    '"',
    '\\',
    '\\\\',
    "\\'",
    '\\"',
    '\\\n',
    '$',
    '$',
    '}',
    '{',
  ],
  ...['$(mark)', '`mark`', '(mark)', '(mark)', '\\x24(mark)', '\\x60mark\\x60', '\\44', '\\u0024'],
  ...[';mark;', '\nmark\n', '|mark', '<(mark)', '&', '${y:-', '${y/', '${y', ':-', '$((', '))'],
  ...['[', ']', '*', '#', '@', '!', '~', ' ', 'a', '<<E\n', '\nE\n'],
);
const expansions = fc
  .tuple(
    fc.constantFrom(
      ...['"${y:-TEXT}"', '"TEXT"', '${y:-TEXT}', 'TEXT', '"${y:-$\'TEXT\'}"', '"a${y:-"TEXT"}b"'],
      ...[
        '"${y//TEXT/x}"',
        '"${y#TEXT}"',
        '$((TEXT))',
        '${y[TEXT]}',
        '"${@:-TEXT}"',
        '<<E\n${y:-TEXT}\nE',
      ],
    ),
    fc.array(quoting, { minLength: 2, maxLength: 8 }),
  )
  .map(([place, pieces]) => `: ${place.replace('TEXT', () => pieces.join(''))}`);

describe('what bash runs', () => {
  it.each(['mark', 'echo $(mark)', 'bash_is=here; mark'])('can be seen: %s', (text) => {
    expect(bashRuns(text)).toBe(true);
  });

  fuzz(
    'is found wherever it stands',
    texts,
    (text) => {
      const { decision } = judgeCommand(text, policy, { workingDir: '/w/project' });
      // If the line is refused or asked about, it does not matter what bash would do with it.
      if (decision !== 'allow') return;
      expect(bashRuns(text), JSON.stringify(text)).toBe(false);
    },
    { runs: { check: 150, nightly: 3_000, long: 200_000 } },
  );

  fuzz(
    'is found however an expansion is quoted',
    expansions,
    (text) => {
      const { decision } = judgeCommand(text, policy, { workingDir: '/w/project' });
      if (decision !== 'allow') return;
      expect(bashRuns(text), JSON.stringify(text)).toBe(false);
    },
    { runs: { check: 100, nightly: 3_000, long: 200_000 } },
  );
});
