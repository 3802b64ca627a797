import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileArgumentPolicy } from './argument-policy.js';

describe('compileArgumentPolicy, deny', () => {
  it.each<[pattern: string, command: string]>([
    ['-c', 'git -c alias.x=!id x'],
    ['-c', 'git -calias.x=!id x'],
    ['-c', 'git -pc alias.x=!id x'],
    ['-c', 'git log -c'],
    ['-K', 'curl -#Kfile'],
    ['-K', 'curl -:K file'],
    ['--upload-pack', 'git ls-remote --upload-pack=/tmp/x .'],
    ['--upload-pack', 'git ls-remote --upload-pack /tmp/x .'],
    ['--upload-pack', 'git ls-remote --upload-pac=/tmp/x .'],
    ['--upload-pack', 'git ls-remote --u /tmp/x .'],
    ['--exec-path', 'git --exec-path=/tmp x'],
    ['--checkpoint-action', 'tar cf x --checkpoint=1 --checkpoint-action=exec=id .'],
    ['--checkpoint-action', 'tar cf x --checkpoint-a=exec=id .'],
    ['--to-command', 'tar xf x --to-com=id'],
    ['-I', 'tar -cIid -f x .'],
    ['-exec', 'find . -exec id ;'],
    ['-exec', 'find . -execdir id ;'],
    ['-exec*', 'find . -execdir id ;'],
    ['-delete', 'find . -delete'],
    ['--pre', 'rg --pre id x'],
    ['--pre', 'rg --pre=id x'],
    ['-oProxyCommand', 'ssh -oProxyCommand=id host'],
    ['-oProxyCommand', 'ssh -o ProxyCommand=id host'],
    ['-oProxyCommand', 'ssh -oproxycommand=id host'],
    ['-oProxyCommand', 'ssh -vo PROXYCOMMAND=id host'],
    ['-oProxyCommand', 'ssh -voProxyCommand=id host'],
    ['-exec', 'go --exec=id'],
    ['--exec', 'go -exec=id'],
    ['push', 'git push'],
    ['*!*', 'git config alias.x !id'],
    ['ext::*', 'git clone ext::sh'],
    ['-', 'sh -'],
    ['--', 'x --'],
    ['', 'x '],
    ['*', 'x y'],
  ])('%j refuses %s', (pattern, command) => {
    const args = command.split(' ').slice(1);
    const check = compileArgumentPolicy({ deny: ['not this', pattern] });
    expect(check(args)).toMatchObject({ denied: pattern });
  });

  it.each([' ProxyCommand=id', '\tproxycommand id'])(
    '-oProxyCommand refuses -o and %j',
    (value) => {
      const check = compileArgumentPolicy({ deny: ['-oProxyCommand'] });
      expect(check(['-o', value, 'host'])).toEqual({ position: 0, denied: '-oProxyCommand' });
      expect(check([`-o${value}`, 'host'])).toEqual({ position: 0, denied: '-oProxyCommand' });
    },
  );

  it.each<[pattern: string, command: string]>([
    ['-c', 'git -C /x status --oneline'],
    ['-c', 'git log --color -- c'],
    ['-c', 'git commit -m=a-c'],
    ['-c', 'git - c'],
    ['--upload-pack', 'git fetch --upload-pack-x --upgrade --all'],
    ['--upload-pack', 'git fetch -- upload-pack'],
    ['--checkpoint-action', 'tar --create --checkpoint-actions .'],
    ['-exec', 'find . -name exec -e x'],
    ['--pre', 'rg --pretty pre -p'],
    ['-oProxyCommand', 'ssh -o User=x -oPort=1 ProxyCommand=id'],
    ['push', 'git pushx pus Push'],
    ['ext::*', 'git clone https://x/ext::y'],
    ['-', 'cat -n'],
    ['a*b*c', 'x acb abcx xabc'],
    ['*ab', 'x abc'],
    ['ab*ba', 'x aba'],
  ])('%j lets %s pass', (pattern, command) => {
    expect(compileArgumentPolicy({ deny: [pattern] })(command.split(' ').slice(1))).toBeUndefined();
  });
});

describe('compileArgumentPolicy, allow', () => {
  it.each<[patterns: string[], command: string, position: number | undefined]>([
    [['-l*', '/*'], 'ls -la /x', undefined],
    [['-l*', '/*'], 'ls -la x', 1],
    [['-l*', '/*'], 'ls', undefined],
    [[], 'ls', undefined],
    [[], 'ls x', 0],
    [['--exec'], 'x --exec=y', 0],
    [['-c'], 'x -cy', 0],
    [['status'], 'git status', undefined],
    [['a.c'], 'x abc', 0],
    [['[a-z]'], 'x b', 0],
    [['**'], 'x y', undefined],
  ])('%j on %s', (allow, command, position) => {
    const refusal = compileArgumentPolicy({ allow })(command.split(' ').slice(1));
    expect(refusal).toEqual(position === undefined ? undefined : { position });
  });

  it('a denied argument is refused even where it is allowed', () => {
    const check = compileArgumentPolicy({ allow: ['*'], deny: ['-c'] });
    expect(check(['status', '-c'])).toEqual({ position: 1, denied: '-c' });
  });

  it('no policy refuses nothing', () => {
    expect(compileArgumentPolicy({})(['-c', ''])).toBeUndefined();
  });
});

describe('compileArgumentPolicy, any input', () => {
  const argument = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('-', 'c', 'o', 'x', '=', '*', ' ') }),
  );

  fuzz(
    'a pattern without * denies itself, whatever stands around it',
    fc.record({ pattern: argument, before: fc.array(argument), after: fc.array(argument) }),
    ({ pattern, before, after }) => {
      const check = compileArgumentPolicy({ deny: [pattern] });
      return check([...before, pattern, ...after]) !== undefined;
    },
    {
      corpus: [
        { pattern: '-  ', before: [], after: [] },
        { pattern: '--=', before: [], after: [] },
        { pattern: '-o ProxyCommand', before: ['-v'], after: ['host'] },
        { pattern: '-\u0130name', before: [], after: [] },
      ],
    },
  );

  fuzz(
    'a glob agrees with its regular expression',
    fc.record({
      pattern: fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 }),
      arg: fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 }),
    }),
    ({ pattern, arg }) => {
      const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(arg);
      return (compileArgumentPolicy({ allow: [pattern] })([arg]) === undefined) === expected;
    },
  );

  fuzz(
    'a denied long option is denied under every abbreviation and with any value',
    fc.record({
      option: fc.stringMatching(/^--[a-z][a-z-]{0,20}$/),
      length: fc.integer({ min: 3, max: 30 }),
      value: fc.option(fc.string()),
    }),
    ({ option, length, value }) => {
      const spelled = option.slice(0, length) + (value === null ? '' : `=${value}`);
      return compileArgumentPolicy({ deny: [option] })([spelled]) !== undefined;
    },
  );

  it.each([
    ['-c', `-${'a'.repeat(100_000)}`],
    ['-ox', `-${'o'.repeat(100_000)}`],
    ['-ox', `-${'o '.repeat(100_000)}`],
    ['*a*a*a*a*b', 'a'.repeat(100_000)],
  ])('%j is compared with a hundred thousand characters at once', (pattern, arg) => {
    expect(compileArgumentPolicy({ deny: [pattern] })([arg])).toBeUndefined();
  });
});
