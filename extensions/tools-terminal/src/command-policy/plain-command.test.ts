import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AROUND_ALLOWED } from '../fixtures/around-allowed.js';
import { EVALUATED } from '../fixtures/evaluated-text.js';
import { judgeCommand } from './judge-command.js';
import { plainProblem, plainWords } from './plain-command.js';
import { type CommandPolicyInput, commandPolicySchema } from './policy-settings.js';

const HERE = { workingDir: '/w/project' };
const LISTED: CommandPolicyInput = {
  shell: false,
  rules: [
    { command: 'git status', decision: 'allow' },
    { command: 'ls', decision: 'allow' },
    { command: 'tail', decision: 'allow' },
    { command: 'npm test', decision: 'ask' },
    { command: 'find', decision: 'allow' },
  ],
};
const judge = (line: string, policy: CommandPolicyInput = LISTED) =>
  judgeCommand(line, commandPolicySchema.parse(policy), HERE);

describe('without a shell', () => {
  const words: [line: string, expected: string[]][] = [
    ['ls', ['ls']],
    ['  ls   -la\t x ', ['ls', '-la', 'x']],
    ['tail \'a b\' "c d" e\\ f', ['tail', 'a b', 'c d', 'e f']],
    [
      "tail '$(x)' '`y`' '$z' '*' '~' ';' '&&' '#'",
      ['tail', '$(x)', '`y`', '$z', '*', '~', ';', '&&', '#'],
    ],
    ["ls ''", ['ls', '']],
    ["l's'", ['ls']],
    ['tail --lines=3 a.b/c_d@e:f,g+h%i^j', ['tail', '--lines=3', 'a.b/c_d@e:f,g+h%i^j']],
    ['tail "it\'s" \'say "hi"\'', ['tail', "it's", 'say "hi"']],
    ['tail \\$x \\*', ['tail', '$x', '*']],
    ['ls x=y', ['ls', 'x=y']],
    ['ls a#b', ['ls', 'a#b']],
  ];
  it.each(words)('reads %s', (line, expected) => {
    expect(plainProblem(line)).toBeUndefined();
    expect(plainWords(line)).toEqual(expected);
    expect(judge(line).decision).toBe('allow');
  });

  const refused = [
    ...['', '#', 'ls #x', 'ls;', 'ls; ls', 'ls\nls', 'ls | tail', 'ls && ls', 'ls || ls', 'ls &'],
    ...['! ls', 'time ls', '(ls)', '{ ls; }', 'ls > x', 'ls < x', 'ls 2>&1', 'ls <<< x'],
    ...['ls <<E\nx\nE', 'ls $x', 'ls "$x"', 'ls ${x}', 'ls $(ls)', 'ls `ls`', 'ls "$(ls)"'],
    ...['ls $((1))', 'ls *', 'ls ?', 'ls [a]', 'ls {a,b}', 'ls {1..3}', 'ls ~', 'ls ~/x', 'ls ~x'],
    ...["ls $'x'", 'ls $"x"', 'ls <(ls)', 'X=1 ls', 'X=1', 'export X=1', 'if ls; then ls; fi'],
    ...[
      'for x in a; do ls; done',
      'f() { ls; }',
      'coproc ls',
      '[[ a ]]',
      '((1))',
      "''",
      'ls "',
      'ls )',
    ],
    ...['ls @(a)', 'ls !(a)', '> x', 'ls {x}>y', 'case x in x) ls;; esac', 'ls \\\nls; ls'],
  ];
  it.each(refused)('refuses %s', (line) => {
    expect(plainProblem(line)).toMatch(/; commands of this personality run without a shell: write/);
    expect(judge(line).decision).toBe('deny');
  });

  it.each([
    'rm x',
    './ls',
    '/bin/ls',
    'git stash',
    'git -C / status',
    'sh -c ls',
    "find . -exec rm {} ';'",
  ])('refuses what no rule allows: %s', (line) => {
    expect(judge(line).decision).toBe('deny');
  });

  it.each([...AROUND_ALLOWED, ...EVALUATED.map((line) => line.replaceAll('PAY', 'a[$(x)]'))])(
    'refuses %s, too',
    (line) => {
      expect(judge(line).decision).toBe('deny');
    },
  );

  it('asks where a rule asks, and about the rest where that is the default', () => {
    expect(judge('npm test').decision).toBe('ask');
    expect(judge('rm x', { ...LISTED, default: 'ask' }).decision).toBe('ask');
    expect(judge('rm x; ls', { ...LISTED, default: 'ask' }).decision).toBe('deny');
    expect(judge('rm x', { ...LISTED, default: 'allow' }).decision).toBe('deny');
  });

  it('keeps the built-in refusals', () => {
    const policy: CommandPolicyInput = {
      shell: false,
      rules: [{ command: 'git', decision: 'allow' }],
    };
    expect(judge('git push --force', policy).decision).toBe('deny');
    expect(judge('git reset --hard', policy).decision).toBe('allow');
  });

  it('says what to do', () => {
    expect(judge('ls | tail').findings[0]).toEqual({
      decision: 'deny',
      rule: 'shell',
      command: 'ls | tail',
      why: 'is more than one simple command; commands of this personality run without a shell: write one command of plain words, and put other characters in quotes',
    });
  });

  const quoted = fc
    .array(fc.string({ unit: 'binary-ascii', maxLength: 12 }), { minLength: 1, maxLength: 5 })
    .filter((all) => all[0] !== '' && all.every((word) => !word.includes('\0')))
    .map((all) => ({
      all,
      line: all.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' '),
    }));
  fuzz(
    'reads quoted words as they are',
    quoted,
    ({ all, line }) => {
      expect(plainWords(line)).toEqual(all);
    },
    { runs: { check: 500, long: 100_000 } },
  );
});
