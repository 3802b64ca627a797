import { describe, expect, it } from 'vitest';
import { AROUND_ALLOWED, ONLY_ALLOWED } from '../fixtures/around-allowed.js';
import { judgeCommand } from './judge-command.js';
import { type CommandPolicyInput, commandPolicySchema } from './policy-settings.js';

const HERE = { workingDir: '/w/project' };
const LISTED: CommandPolicyInput['rules'] = [
  { command: 'git status', decision: 'allow' },
  { command: 'ls', decision: 'allow' },
  { command: 'tail', decision: 'allow' },
];
const judge = (line: string, policy: CommandPolicyInput) =>
  judgeCommand(line, commandPolicySchema.parse(policy), HERE).decision;
const listed = (decision: 'ask' | 'deny', ...more: NonNullable<typeof LISTED>) => ({
  default: decision,
  rules: [...(LISTED ?? []), ...more],
});

describe('a policy that allows three commands', () => {
  it.each(AROUND_ALLOWED)('refuses %s', (line) => {
    expect(judge(line, listed('deny'))).toBe('deny');
  });

  it.each(AROUND_ALLOWED)('does not let pass unasked: %s', (line) => {
    expect(judge(line, listed('ask'))).not.toBe('allow');
  });

  it.each(ONLY_ALLOWED)('allows %s', (line) => {
    expect(judge(line, listed('deny'))).toBe('allow');
  });
});

describe('a rule that allows', () => {
  const cases: [what: string, line: string, policy: CommandPolicyInput, decision: string][] = [
    [
      'lifts no question about a variable before the command',
      'LD_PRELOAD=./x.so make',
      { rules: [{ command: 'make', decision: 'allow' }] },
      'ask',
    ],
    [
      'lifts none about a variable among the words',
      'export LD_PRELOAD=./x.so',
      { rules: [{ command: 'export', decision: 'allow' }] },
      'ask',
    ],
    [
      'lifts none about a variable that a builtin sets',
      'read PATH',
      { rules: [{ command: 'read', decision: 'allow' }] },
      'ask',
    ],
    [
      'lifts none about the other name of a variable',
      'declare -n r=x',
      { rules: [{ command: 'declare', decision: 'allow' }] },
      'ask',
    ],
    [
      'lifts none about a file that is written',
      'tee ~/.bashrc > ~/.profile',
      { rules: [{ command: 'tee', decision: 'allow' }] },
      'ask',
    ],
    [
      'lifts none about a connection',
      'cat < /dev/tcp/127.0.0.1/1',
      { rules: [{ command: 'cat', decision: 'allow' }] },
      'ask',
    ],
    [
      'lifts none about code from a pipe',
      'cat x | bash',
      { rules: [{ command: 'bash', decision: 'allow' }] },
      'ask',
    ],
    [
      'lifts none about code from a here-document',
      "python3 - <<'E'\nx\nE",
      { rules: [{ command: 'python3', decision: 'allow' }] },
      'ask',
    ],
    [
      'lifts what is asked about the words',
      "python3 -c 'x'",
      { rules: [{ command: 'python3', decision: 'allow' }] },
      'allow',
    ],
    ...[
      'set -k',
      'set -o keyword',
      'set -a',
      'set -o allexport',
      'declare +x PATH',
      'declare -a PATH',
      'typeset -A FOO',
      'export PATH',
      'export -n PATH',
      'local FOO',
      'read FOO',
      'read',
      'unset FOO',
      'printf -v FOO x',
      'printf -vFOO x',
      'mapfile',
      'wait -p FOO',
      'getopts x y',
      'declare x=y -x',
      '[ -n ${!x:=y} ]',
    ].map((line): [string, string, CommandPolicyInput, string] => [
      'about a builtin says nothing of what it sets',
      line,
      {
        default: 'deny',
        rules: ['set', 'declare', 'typeset', 'export', 'local', 'read', 'unset', 'printf', '['].map(
          (command) => ({ command, decision: 'allow' }),
        ),
      },
      'deny',
    ]),
    [
      'may be about a variable',
      'PATH=./bin:$PATH make',
      { rules: [{ command: 'PATH=./bin:*', decision: 'allow' }] },
      'allow',
    ],
    [
      'may be about a variable of a known value',
      'LD_PRELOAD=./x.so make',
      { rules: [{ command: 'LD_PRELOAD=./x.so', decision: 'allow' }] },
      'allow',
    ],
    [
      'about a variable is not about others',
      'CI=1 FOO=1 ls',
      listed('deny', { command: 'CI=*', decision: 'allow' }),
      'deny',
    ],
    [
      'about a variable is enough for it',
      'CI=1 ls',
      listed('deny', { command: 'CI=*', decision: 'allow' }),
      'allow',
    ],
    [
      'about a variable is enough for a statement',
      'CI=1; ls',
      listed('deny', { command: 'CI=1', decision: 'allow' }),
      'allow',
    ],
    [
      'about all commands is about no variable',
      'CI=1 ls',
      { default: 'deny', rules: [{ command: '*', decision: 'allow' }] },
      'deny',
    ],
    [
      'may be about a file that is read',
      'tail < logs/a.log',
      listed('deny', { command: '< logs/*', decision: 'allow' }),
      'allow',
    ],
    [
      'about files that are read is not about files that are written',
      'ls > logs/a.log',
      listed('deny', { command: '< logs/*', decision: 'allow' }),
      'deny',
    ],
    [
      'needs both for a file that is opened for both',
      'ls 1<> logs/a.log',
      listed('deny', { command: '> logs/*', decision: 'allow' }),
      'deny',
    ],
  ];
  it.each(cases)('%s: %s', (_, line, policy, decision) => {
    expect(judge(line, policy)).toBe(decision);
  });

  it.each([
    ['an assignment before a command', 'CI=1 ls'],
    ['two assignments', 'CI=1 FOO=1'],
  ])('must not be %s', (_, command) => {
    const rules = [{ command, decision: 'allow' }];
    expect(commandPolicySchema.safeParse({ rules }).success).toBe(false);
  });
});
