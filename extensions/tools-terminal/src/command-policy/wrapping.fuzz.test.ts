import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { DENIED_COMMANDS } from '../fixtures/refused-commands.js';
import { judgeCommand } from './judge-command.js';
import { commandPolicySchema } from './policy-settings.js';

const POLICY = commandPolicySchema.parse({});
const HERE = { workingDir: '/w/project' };

/** Commands of one word after the other, without any syntax. */
const PLAIN = DENIED_COMMANDS.map(([command]) => command).filter(
  (command) =>
    /^[\w /.+-]+$/.test(command) &&
    !/^(if|ls|time|coproc)\b/.test(command) &&
    !/^\S*=/.test(command),
);

const quoteChar: ((character: string) => string)[] = [
  (character) => character,
  (character) => `'${character}'`,
  (character) => `"${character}"`,
  (character) => `\\${character}`,
  (character) => `$'${character}'`,
  (character) => `$'\\x${character.charCodeAt(0).toString(16)}'`,
  (character) => `$'\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}'`,
  (character) => `''${character}`,
  (character) => `""${character}`,
  (character) => `${character}\\\n`,
];
const quoted = (word: string) =>
  fc
    .array(fc.nat(quoteChar.length - 1), { minLength: word.length, maxLength: word.length })
    .map((ways) =>
      [...word].map((character, at) => quoteChar[ways[at] ?? 0]?.(character) ?? character).join(''),
    );
const PREFIXES = [
  '',
  '',
  'sudo ',
  'sudo -u root ',
  'env A=1 ',
  'command ',
  'nohup ',
  'nice -n 3 ',
  'exec ',
  'timeout 5 ',
  'setsid ',
  'A=1 ',
  'busybox ',
];
const quotedCommand = fc
  .tuple(fc.constantFrom(...PREFIXES), fc.constantFrom(...PLAIN))
  .chain(([prefix, command]) =>
    fc.tuple(...command.split(/ +/).map(quoted)).map((words) => prefix + words.join(' ')),
  );

const single = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const wrap: ((command: string) => string)[] = [
  (command) => `ls; ${command}`,
  (command) => `ls && ${command}`,
  (command) => `ls | ${command}`,
  (command) => `${command} &`,
  (command) => `( ${command})`,
  (command) => `{ ${command}; }`,
  (command) => `! ${command}`,
  (command) => `echo $( ${command})`,
  (command) => `echo "$( ${command})"`,
  (command) => `x=$( ${command})`,
  (command) => `cat <( ${command})`,
  (command) => `cat <<E\n$( ${command})\nE`,
  (command) => `if ${command}; then ls; fi`,
  (command) => `if ls; then ${command}; else ls; fi`,
  (command) => `for i in 1 2; do ${command}; done`,
  (command) => `while ls; do ${command}; done`,
  (command) => `case x in x) ${command};; esac`,
  (command) => `f() { ${command}; }; f`,
  (command) => `echo \${x:-$( ${command})}`,
  (command) => `echo $((1 + $( ${command})))`,
  (command) => `[[ -n $( ${command}) ]]`,
  (command) => `bash -c ${single(command)}`,
  (command) => `sh -ec ${single(command)}`,
  (command) => `eval ${single(command)}`,
  (command) => `trap ${single(command)} EXIT`,
  (command) => `sudo -n sh -c ${single(command)}`,
  (command) => `sudo -u root bash -c ${single(command)}`,
  (command) => `env -i A=b sh -c ${single(command)}`,
  (command) => `nohup nice -n 3 sh -c ${single(command)}`,
  (command) => `timeout -s KILL 5 bash -c ${single(command)}`,
  (command) => `find . -name x -exec sh -c ${single(command)} \\;`,
  (command) => `xargs -0 sh -c ${single(command)}`,
  (command) => `time ${command}`,
  (command) => `coproc { ${command}; }`,
  (command) => `# a comment\n${command} # another`,
  (command) => `A=1 B="$(ls)" bash -c ${single(command)}`,
  (command) => `bash <<< ${single(command)}`,
  (command) => `watch ${single(command)}`,
  (command) => `{ ls; ${command}; } > out 2>&1`,
];
const wrapped = fc
  .tuple(quotedCommand, fc.array(fc.constantFrom(...wrap), { maxLength: 4 }))
  .map(([command, wrappers]) => wrappers.reduce((text, one) => one(text), command));

describe('a command that is denied', () => {
  fuzz(
    'is never allowed, however it is quoted and wrapped',
    wrapped,
    (command) => {
      const { decision } = judgeCommand(command, POLICY, HERE);
      expect(decision, command).toBe('deny');
    },
    {
      runs: { check: 150, nightly: 3_000, long: 100_000 },
      corpus: ['ls | time ! rm -rf /', 'time ! time ! rm -rf /'],
    },
  );
});

describe('judgeCommand', () => {
  const pieces = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          ...'$(){}[]<>|&;\'"`\\#!*?~=\n \t'.split(''),
          '$((',
          '${',
          '<<E\n',
          '\nE\n',
          'case x in',
          'esac',
          'if',
          'fi',
          'do',
          'done',
          'rm -rf',
          '/',
          'x',
        ),
        fc.string({ maxLength: 4 }),
      ),
      { maxLength: 40 },
    )
    .map((all) => all.join(''));
  fuzz(
    'answers to any text',
    pieces,
    (text) => {
      expect(['allow', 'ask', 'deny']).toContain(judgeCommand(text, POLICY, HERE).decision);
    },
    { runs: { check: 300, nightly: 6_000, long: 300_000 } },
  );
});
