import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { judgeCommand } from './judge-command.js';
import { commandPolicySchema } from './policy-settings.js';

/*
 * Lines of tricky pieces around three commands, under a policy that allows those three, or those
 * and the builtins of bash, or all but `mark`. What the policy allows is given to bash, whose `PATH`
 * has the three and `mark`: `mark` must not run. Where only the three are allowed, no file may
 * appear, and what runs must get the environment that it would have got without the rest.
 */
const dir = mkdtempSync(join(tmpdir(), 'allowed-words-'));
const bin = join(dir, 'bin');
mkdirSync(bin);
for (const name of ['ls', 'tail', 'git', 'mark']) {
  const text = name === 'mark' ? ': > seen/mark' : 'export -p > seen/$$';
  writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o700 });
}
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ENV = { PATH: bin, LANG: 'C', FOO: 'foo', TERM: 'dumb' };
const PROGRAMS = ['git status', 'ls', 'tail'];
const BUILTINS = [
  ...[':', '[', 'declare', 'export', 'getopts', 'let', 'local', 'mapfile', 'printf', 'read'],
  ...['readonly', 'set', 'shift', 'test', 'typeset', 'unset', 'wait'],
];
const policyOf = (commands: readonly string[]) =>
  commandPolicySchema.parse({
    default: 'deny',
    rules: commands.map((command) => ({ command, decision: 'allow' })),
  });
const THREE = policyOf(PROGRAMS);
const WITH_BUILTINS = policyOf([...PROGRAMS, ...BUILTINS]);
const ALL_BUT_MARK = commandPolicySchema.parse({ rules: [{ command: 'mark', decision: 'deny' }] });
const POLICIES = [THREE, WITH_BUILTINS, WITH_BUILTINS, ALL_BUT_MARK];

/** What happened that must not. */
function wrongsOf(line: string): string[] {
  const cwd = mkdtempSync(join(dir, 'cwd-'));
  const seen = join(cwd, 'seen');
  mkdirSync(seen);
  // It waits for every process that holds the pipe, in the background too, and ends all of them.
  spawnSync(
    '/usr/bin/timeout',
    ['-s', 'KILL', '10', '/bin/bash', '--noprofile', '--norc', '-c', line],
    {
      cwd,
      env: ENV,
      stdio: ['ignore', 'ignore', 'pipe'],
      maxBuffer: 2 ** 20,
    },
  );
  const wrongs = readdirSync(cwd).flatMap((name) => (name === 'seen' ? [] : [`the file ${name}`]));
  for (const name of readdirSync(seen)) {
    if (name === 'mark') wrongs.push('mark ran');
    else {
      const text = readFileSync(join(seen, name), 'utf8');
      for (const [key, value] of Object.entries(ENV)) {
        if (!text.includes(`export ${key}='${value}'\n`)) wrongs.push(`another ${key}`);
      }
      const names = [...text.matchAll(/^export (\w+)/gm)].map(([, key = '']) => key);
      const more = names.filter((key) => !(key in ENV) && !/^(PWD|OLDPWD|SHLVL|_)$/.test(key));
      wrongs.push(...more.map((key) => `the variable ${key}`));
    }
  }
  rmSync(cwd, { recursive: true });
  return wrongs;
}

const PAYLOADS = [
  ...[
    'a[$(mark)]',
    'a[`mark`]',
    '$(mark)',
    '-va[$(mark)]',
    'a[$(>hit)]',
    '(mark)]',
    'a[$',
    'a[',
    ']',
  ],
  ...['($(mark))', 'x', 'y', '1', '-v', '-i', '-n'],
];
const quoted = fc
  .tuple(
    fc.constantFrom(...PAYLOADS),
    fc.constantFrom('single', 'single', 'escaped', 'escaped', 'ansi', 'bare'),
  )
  .map(([text, how]) => {
    if (how === 'single') return `'${text}'`;
    if (how === 'escaped') return `"${text.replaceAll(/[$`]/g, '\\$&')}"`;
    if (how === 'ansi') return `$'${text.replaceAll('$', '\\x24').replaceAll('`', '\\x60')}'`;
    return text;
  });
const name = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('x', 'y', 'i', 'a') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['RANDOM', 'SECONDS', 'OPTIND', 'HISTCMD', 'LINENO', 'PATH', 'IFS', 'FOO', 'LANG', 'PS4'],
      ...['REPLY', 'BASH_ENV', '_', 'LD_PRELOAD', 'GIT_DIR', 'BASH_CMDS', 'MAPFILE', '1', '@'],
    ),
  },
);
const join2 = (strings: TemplateStringsArray, ...parts: fc.Arbitrary<string>[]) =>
  fc.tuple(...parts).map((texts) => strings.map((text, at) => text + (texts[at] ?? '')).join(''));

const { line } = fc.letrec<Record<'word' | 'number' | 'statement' | 'line', string>>((tie) => {
  const [word, number, statement, all] = [
    tie('word'),
    tie('number'),
    tie('statement'),
    tie('line'),
  ];
  const command = fc.constantFrom('ls', 'tail', 'git status');
  return {
    word: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'word' },
      quoted,
      join2`$${name}`,
      join2`"$${name}"`,
      fc.constantFrom('x', '1', '-v', '$#', '*', '{1,2}', '~', '-x'),
      join2`\${${name}}`,
      join2`$((${number}))`,
      join2`\${${name}:${number}}`,
      join2`\${${name}:=${word}}`,
      join2`"\${${name}:-${word}}"`,
      join2`\${${name}[${number}]}`,
      join2`\${!${name}}`,
      join2`\${${name}@P}`,
      join2`\${#${name}[@]}`,
      join2`$(${statement})`,
      join2`${word}${word}`,
    ),
    number: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'number' },
      fc.constantFrom('1', '2'),
      name,
      word,
      join2`${name}=${number}`,
      join2`${name}[${number}]`,
      join2`${name}++`,
      join2`${number}+${number}`,
      join2`${name}`,
    ),
    statement: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'statement', withCrossShrink: true },
      join2`${command} ${word}`,
      join2`${name}=${word}`,
      join2`${name}+=${word}`,
      join2`${name}[${number}]=${word}`,
      join2`${name}=(${word} ${word})`,
      join2`${name}=([${number}]=${word})`,
      join2`${name}=${word} ${command}`,
      join2`((${number}))`,
      join2`[[ ${word} -eq ${word} ]]`,
      join2`[[ -v ${word} ]]`,
      join2`[[ -n ${word} && ${word} == ${word} ]]`,
      join2`for ${name} in ${word} ${word}; do ${statement}; done`,
      join2`for ((i=1;i<2;i++)); do ${command}; done`,
      join2`select ${name} in ${word}; do break; done <<< 1`,
      join2`case ${word} in ${word}) ${statement};; esac`,
      join2`${command} <<< ${word}`,
      join2`${command} > ${word}`,
      join2`${command} < ${word}`,
      join2`${command} {${name}}>/dev/null`,
      join2`${command} >& ${word}`,
      join2`${command} <<E\n\${${name}:-${word}}\nE\n`,
      join2`${command} <<E\n${word}\nE\n`,
      join2`coproc ${command}`,
      join2`(${statement})`,
      join2`f() { ${statement}; }; f ${word}`,
      join2`read ${word} <<< ${word}`,
      join2`read -a ${name} <<< ${word}`,
      join2`mapfile ${word} <<< ${word}`,
      join2`printf -v ${word} ${word}`,
      join2`printf ${word} ${word}`,
      join2`declare -i ${name}=${word}`,
      join2`declare -a ${name}=${word}`,
      join2`declare -n ${name}=${word}`,
      join2`declare ${word}`,
      join2`export ${word}`,
      join2`local ${word}`,
      join2`readonly ${name}=${word}`,
      join2`unset ${word}`,
      join2`let ${word}`,
      join2`test ${word} ${word}`,
      join2`[ -v ${word} ]`,
      join2`[ ${word} ]`,
      join2`set -- ${word}`,
      join2`getopts x ${word}`,
      join2`wait -p ${word}`,
      join2`: ${word}`,
      join2`{read,${name}} <<< ${word}`,
      join2`declare {-i,${name}}`,
      join2`declare ${word} ${name}`,
      join2`declare +x ${name}`,
      join2`printf -v "$${name}" %s ${word}`,
      join2`read "$${name}" <<< ${word}`,
      join2`set ${fc.constantFrom('-a', '-k', '-x', '-f', '-u')}`,
      join2`eval ${word}`,
      join2`trap ${word} EXIT`,
      join2`${name}+=(${word})`,
      join2`${name}=${name}`,
      join2`${name}=$${name}$${name}`,
    ),
    line: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'line' },
      statement,
      join2`${statement}; ${all}`,
      join2`${statement} && ${all}`,
      join2`${statement} | ${all}`,
    ),
  };
});

describe('what runs of a line that is allowed', () => {
  it.each([
    ['mark', 'mark ran'],
    ['x=1; ls > x', 'the file x'],
    ['FOO=x ls', 'another FOO'],
    ['export BAR=x; ls', 'the variable BAR'],
  ])('would be noticed: %s', (text, wrong) => {
    expect(wrongsOf(text)).toContain(wrong);
  });

  let allowed = 0;
  fuzz(
    'are the allowed commands, as they would run without the rest',
    fc.tuple(line, fc.nat(3)),
    ([text, at]) => {
      const policy = POLICIES[at] ?? THREE;
      if (judgeCommand(text, policy, { workingDir: '/w/project' }).decision !== 'allow') return;
      allowed += 1;
      const wrongs = wrongsOf(text);
      const told =
        policy === ALL_BUT_MARK ? wrongs.filter((wrong) => wrong === 'mark ran') : wrongs;
      expect(told, text).toEqual([]);
    },
    { runs: { check: 120, nightly: 2_000, long: 200_000 } },
  );

  it('is not nothing', () => {
    expect(allowed).toBeGreaterThan(10);
  });
});
