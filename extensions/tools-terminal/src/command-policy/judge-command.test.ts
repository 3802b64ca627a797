import { growsLinearly } from '@ethosagent/conformance/fuzz';
import { inCheck } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { ASKED_BY_CLASS } from '../fixtures/asked-by-class.js';
import { EVERYDAY_COMMANDS } from '../fixtures/everyday-commands.js';
import { EVERYDAY_NEIGHBOURS } from '../fixtures/everyday-neighbours.js';
import { ASKED_COMMANDS, DENIED_COMMANDS } from '../fixtures/refused-commands.js';
import { judgeCommand } from './judge-command.js';
import { type CommandPolicyInput, commandPolicySchema } from './policy-settings.js';

const BUILT_IN = commandPolicySchema.parse({});
const HERE = { workingDir: '/w/project' };

const judge = (command: string, policy: CommandPolicyInput) =>
  judgeCommand(command, commandPolicySchema.parse(policy), HERE);

describe('the built-in rules', () => {
  it.each([...EVERYDAY_COMMANDS, ...EVERYDAY_NEIGHBOURS].map((command) => [command]))(
    'allow %s',
    (command) => {
      expect(judgeCommand(command, BUILT_IN, HERE)).toEqual({ decision: 'allow', findings: [] });
    },
  );

  it.each(DENIED_COMMANDS)('deny %s', (command, rule) => {
    const { decision, findings } = judgeCommand(command, BUILT_IN, HERE);
    expect({ decision, findings }).toMatchObject({ decision: 'deny' });
    expect(
      findings.filter((finding) => finding.decision === 'deny').map((finding) => finding.rule),
    ).toContain(rule);
  });

  it.each([...ASKED_COMMANDS, ...ASKED_BY_CLASS])('ask about %s', (command, rule) => {
    const { decision, findings } = judgeCommand(command, BUILT_IN, HERE);
    expect({ decision, findings }).toMatchObject({ decision: 'ask' });
    expect(findings.map((finding) => finding.rule)).toContain(rule);
  });
});

describe("the operator's rules", () => {
  const cases: [what: string, command: string, policy: CommandPolicyInput, decision: string][] = [
    [
      'deny by the first words',
      'touch a b',
      { rules: [{ command: 'touch', decision: 'deny' }] },
      'deny',
    ],
    [
      'deny wherever the command stands',
      'ls && echo $(touch a)',
      { rules: [{ command: 'touch', decision: 'deny' }] },
      'deny',
    ],
    [
      'deny whatever runs it',
      "xargs -n1 env A=1 sh -c 'touch a'",
      { rules: [{ command: 'touch', decision: 'deny' }] },
      'deny',
    ],
    [
      'not deny what only looks like it',
      'echo touch; touchy',
      { rules: [{ command: 'touch', decision: 'deny' }] },
      'allow',
    ],
    [
      'match `*` as any words',
      'npm run -s x --prod',
      { rules: [{ command: 'npm * --prod', decision: 'deny' }] },
      'deny',
    ],
    [
      'match `*` as no words',
      'npm --prod',
      { rules: [{ command: 'npm * --prod', decision: 'deny' }] },
      'deny',
    ],
    [
      'match `*` within a word',
      'npm run deploy:live',
      { rules: [{ command: 'npm run deploy:*', decision: 'ask' }] },
      'ask',
    ],
    [
      'match a name by its last part',
      '/usr/bin/touch a',
      { rules: [{ command: 'touch', decision: 'deny' }] },
      'deny',
    ],
    [
      'match a pattern with a folder by its last part',
      'sh -c ./deploy.sh',
      { rules: [{ command: './deploy.sh', decision: 'ask' }] },
      'ask',
    ],
    [
      'not allow another program of the same name',
      './git status',
      { default: 'deny', rules: [{ command: 'git', decision: 'allow' }] },
      'deny',
    ],
    [
      'allow a program by its path',
      './x.sh a',
      { default: 'deny', rules: [{ command: './x.sh', decision: 'allow' }] },
      'allow',
    ],
    [
      'see past global options of git',
      'git -C x --no-pager fetch',
      { rules: [{ command: 'git fetch', decision: 'deny' }] },
      'deny',
    ],
    [
      'ask where a part is unknown',
      'npm run "$x"',
      { rules: [{ command: 'npm run deploy', decision: 'deny' }] },
      'ask',
    ],
    [
      'ask where words are unknown',
      'npm $x',
      { rules: [{ command: 'npm run deploy', decision: 'deny' }] },
      'ask',
    ],
    [
      'not ask where the known part differs',
      'npm test "$x"',
      { rules: [{ command: 'npm run deploy', decision: 'deny' }] },
      'allow',
    ],
    [
      'let the strictest hold',
      'git push',
      {
        rules: [
          { command: 'git push', decision: 'deny' },
          { command: 'git', decision: 'allow' },
        ],
      },
      'deny',
    ],
    [
      'let the strictest hold in any order',
      'git push',
      {
        rules: [
          { command: 'git', decision: 'allow' },
          { command: 'git push', decision: 'ask' },
        ],
      },
      'ask',
    ],
    [
      'lift a built-in question',
      'git reset --hard',
      { rules: [{ command: 'git reset', decision: 'allow' }] },
      'allow',
    ],
    [
      'not lift a built-in refusal',
      'git push --force',
      { rules: [{ command: 'git', decision: 'allow' }] },
      'deny',
    ],
    [
      'not lift a question by what only may match',
      'git $x',
      { rules: [{ command: 'git status', decision: 'allow' }] },
      'ask',
    ],
    [
      'not lift a question about another command',
      'git reset --hard; sudo ls',
      { rules: [{ command: 'git reset', decision: 'allow' }] },
      'ask',
    ],
    [
      'not lift what is inside',
      "sudo sh -c 'git reset --hard'",
      { rules: [{ command: 'sudo', decision: 'allow' }] },
      'ask',
    ],
    [
      'refuse all else',
      'ls',
      { default: 'deny', rules: [{ command: 'git status', decision: 'allow' }] },
      'deny',
    ],
    [
      'allow what is listed',
      'git status -s',
      { default: 'deny', rules: [{ command: 'git status', decision: 'allow' }] },
      'allow',
    ],
    [
      'refuse a part that is not listed',
      'git status; ls',
      { default: 'deny', rules: [{ command: 'git status', decision: 'allow' }] },
      'deny',
    ],
    [
      'refuse options before the listed part',
      'git -c a.b=c status',
      { default: 'deny', rules: [{ command: 'git status', decision: 'allow' }] },
      'deny',
    ],
    ['ask about all else', 'ls', { default: 'ask' }, 'ask'],
    [
      'know writing to a file as `>`',
      'git status > x',
      { default: 'deny', rules: [{ command: 'git status', decision: 'allow' }] },
      'deny',
    ],
    [
      'allow writing below a folder',
      'git status > out/x',
      {
        default: 'deny',
        rules: [
          { command: 'git status', decision: 'allow' },
          { command: '> out/*', decision: 'allow' },
        ],
      },
      'allow',
    ],
    [
      'allow writing to nowhere',
      'git status 2> /dev/null',
      { default: 'deny', rules: [{ command: 'git status', decision: 'allow' }] },
      'allow',
    ],
    [
      'deny writing to a file',
      'echo x >> .env',
      { rules: [{ command: '> *.env', decision: 'deny' }] },
      'deny',
    ],
    ['switch one built-in rule off', 'sudo ls', { defaults: { except: ['privilege'] } }, 'allow'],
    ['keep the others', 'sudo reboot', { defaults: { except: ['privilege'] } }, 'deny'],
    ['switch all of them off', 'sudo reboot; git push -f', { defaults: false }, 'allow'],
    ['never switch off that it must be understood', 'sudo reboot; if', { defaults: false }, 'deny'],
  ];
  it.each(cases)('%s: %s', (_, command, policy, decision) => {
    const verdict = judge(command, policy);
    expect({ ...verdict }).toMatchObject({ decision });
  });

  it('deny what a shell could not read, where nothing else is allowed', () => {
    const policy: CommandPolicyInput = {
      default: 'deny',
      rules: [{ command: 'watch', decision: 'allow' }],
    };
    expect(judge('watch "() => x"', policy).decision).toBe('deny');
    expect(judge("watch node x '() => y'", policy).decision).toBe('deny');
  });

  it.each([
    ['an empty pattern', { rules: [{ command: ' ', decision: 'deny' }] }],
    ['an unknown decision', { rules: [{ command: 'x', decision: 'maybe' }] }],
    ['an unknown key', { rule: [] }],
    ['an unknown built-in rule', { defaults: { except: ['nope'] } }],
  ])('are refused with %s', (_, policy) => {
    expect(commandPolicySchema.safeParse(policy).success).toBe(false);
  });
});

describe('judgeCommand', () => {
  it('tells which part is meant, and which rule means it, the strictest first', () => {
    expect(judge('ls && sudo ls; cd x && git push -f origin main', {}).findings).toEqual([
      {
        decision: 'deny',
        rule: 'git-force-push',
        command: 'git push -f origin main',
        why: 'overwrites what is on the other side',
      },
      {
        decision: 'ask',
        rule: 'privilege',
        command: 'sudo ls',
        why: 'uses or changes the rights of users',
      },
    ]);
  });

  it('takes the folder that the command begins in', () => {
    const policy = commandPolicySchema.parse({});
    const at = (cwd: string) => judgeCommand('rm -rf *', policy, { ...HERE, cwd }).decision;
    expect(at('/w/project/build')).toBe('allow');
    expect(at('/w/project')).toBe('ask');
    expect(at('/')).toBe('deny');
  });

  growsLinearly(
    'takes linear time for chains',
    (size) => 'ls $(a) && '.repeat(size / 11).concat('ls'),
    (command) => judge(command, {}),
    { upTo: { check: 16_000, long: 32_000 } },
  );
  growsLinearly(
    'takes linear time for pipes',
    (size) => 'a | '.repeat(size / 4).concat('sh'),
    (command) => judge(command, {}),
    { upTo: { check: 16_000, long: 32_000 } },
  );
  growsLinearly(
    'takes linear time for words',
    (size) => `rm -rf ${'"$x" '.repeat(size / 5)}`,
    (command) => judge(command, { rules: [{ command: 'rm * -x * -y', decision: 'deny' }] }),
    { upTo: { check: 16_000, long: 32_000 } },
  );
  growsLinearly(
    'takes linear time for nested text',
    (size) => `${'$('.repeat(50)}${'x '.repeat(size / 2)}${')'.repeat(50)}`,
    (command) => judge(command, {}),
    { upTo: { check: 16_000, long: 32_000 } },
  );
  growsLinearly(
    'takes linear time for one word',
    (size) => `sed '${'s/a/e'.repeat(size / 5)}'`,
    (command) => judge(command, { rules: [{ command: 's*e*d *x*y*', decision: 'deny' }] }),
    { upTo: { check: 16_000, long: 32_000 } },
  );

  const LINES: readonly [what: string, line: (size: number) => string][] = [
    ['wrappers that are known by no options', (size) => 'nix '.repeat(size / 4)],
    ['words that each may be the command', (size) => `firejail ${'rm '.repeat(size / 3)}`],
    ['open subscripts', (size) => `x='${'['.repeat(size)}'`],
    ['open subscripts of let', (size) => `let '${'a[b'.repeat(size / 3)}'`],
    ['options that are not known', (size) => `sudo ${'--zz '.repeat(size / 5)}ls`],
    ['executions of find', (size) => `find . ${'-exec a '.repeat(size / 8)}`],
    ['flags of a compiler', (size) => `CFLAGS='${'-fuse-ld='.repeat(size / 9)}' make`],
    ['open braces', (size) => `parallel '${'{'.repeat(size)}' ::: a`],
    ['patterns in patterns', (size) => `ls ${'@(a|'.repeat(size / 8)}${')'.repeat(size / 8)}`],
  ];
  // Each has words, options or brackets that are read again and again. In a check, these stand for them.
  const tried = ['wrappers that are known by no options', 'executions of find', 'open braces'];
  for (const [what, line] of inCheck(LINES, ([what]) => tried.includes(what))) {
    growsLinearly(`takes linear time for ${what}`, line, (command) => judge(command, {}), {
      upTo: { check: 16_000, long: 32_000 },
    });
  }

  it.each([
    ['of many characters', `echo ${'x'.repeat(40_000)}`],
    ['of many words that each may be the command', `firejail ${'a '.repeat(3000)}`],
    ['nested deeper than a call stack', `${'$('.repeat(3000)}${')'.repeat(3000)}`],
    ['nested behind quotes', `${'$( ")" '.repeat(3000)}${')'.repeat(3000)}`],
  ])('denies a line %s', (_, command) => {
    const { decision, findings } = judge(command, {});
    expect(decision).toBe('deny');
    expect(findings.map(({ rule }) => rule)).toContain('unparseable');
  });
});
