import { findExecutions } from './find-executions.js';
import { codeOf, isShell } from './interpreters.js';
import { isMarked, isUnknown, SPLIT, UNKNOWN } from './marked-text.js';
import { readOperands } from './options.js';
import { GIT_RUNS, gitSettings, gitSubcommand } from './rules/git.js';
import type { SimpleCommand } from './simple-command.js';
import { hasSubscript } from './subscripts.js';
import {
  EVALUATES_SUBSCRIPTS,
  SUBCOMMAND_WRAPPERS,
  SUFFIX_TEXT,
  SUFFIX_WRAPPERS,
  WRAPPERS,
  type Wrapper,
} from './wrappers.js';

/** A command that another command runs. */
export type InnerCommand =
  | {
      kind: 'words';
      words: readonly string[];
      /** Whether the words may not be a command at all. Then only problems in them count. */
      isGuess?: true;
    }
  | {
      kind: 'text';
      text: string;
      /** The words that were joined into the text, and so lost their quotes. */
      words?: readonly string[];
    };

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/**
 * Returns the commands that a command runs, such as the operands of `sudo`, or the text of `bash
 * -c`.
 */
export function innerCommands(command: SimpleCommand): Iterable<InnerCommand> {
  const { name, args } = command;
  if (name === undefined || name === '') return [];
  if (isShell(name)) return ofShell(command);
  switch (name) {
    case 'eval':
      return [text((args[0] === '--' ? args.slice(1) : args).join(' '))];
    case 'trap':
      return ofTrap(args);
    case 'alias':
      return args
        .filter((word) => word.includes('='))
        .map((word) => ({ kind: 'text', text: word.slice(word.indexOf('=') + 1) }));
    case 'find':
    case 'gfind':
    case 'fd':
    case 'fdfind':
      return ofFind(name, args);
    case 'parallel':
    case 'sem':
      return ofParallel(args);
    case 'git':
    case 'hub':
      return ofGit(args);
    case 'tar':
    case 'gtar':
    case 'bsdtar':
      return ofTar(args);
    case 'rsync':
    case 'scp':
      return valuesOf(args, name === 'rsync' ? ['-e', '--rsh', '--rsync-path'] : ['-S']).map(text);
    case 'mapfile':
    case 'readarray':
      return valuesOf(args, ['-C']).map(text);
    case 'compgen':
      // Its words are expanded as the words of a command are.
      return [...valuesOf(args, ['-C']).map(text), ...valuesOf(args, ['-W']).map(subscriptText)];
    case 'complete':
    case 'bind':
      return valuesOf(args, ['-C', '-x']).map(text);
  }
  if (SUFFIX_WRAPPERS.test(name)) {
    return suffixes(args, SUFFIX_TEXT.test(name));
  }
  if (EVALUATES_SUBSCRIPTS.test(name)) {
    // A quoted list is evaluated when the variable is an array.
    const lists = args.filter((word) => /^[A-Za-z_]\w*\+?=\(/.test(word));
    return [...args.filter(hasSubscript).map(subscriptText), ...lists.map(text)];
  }
  const known = name === 'gxargs' ? 'xargs' : name;
  const wrapper = Object.hasOwn(WRAPPERS, known) ? WRAPPERS[known] : undefined;
  const names = command.input.from === 'pipe' ? (command.input.found ?? []) : [];
  if (wrapper !== undefined) return ofWrapper(args, wrapper, names);
  const subcommands = Object.hasOwn(SUBCOMMAND_WRAPPERS, name)
    ? SUBCOMMAND_WRAPPERS[name]
    : undefined;
  return [
    ...(subcommands === undefined ? [] : ofSubcommand(args, subcommands)),
    ...(TAKES_NO_COMMAND.test(name) ? [] : tails(args)),
  ];
}

/** Matches programs that take file names or plain text after `--`. */
const TAKES_NO_COMMAND =
  /^(\[|test|echo|printf|rm|rmdir|mv|cp|ln|ls|cat|head|tail|less|more|wc|touch|mkdir|chmod|chown|chgrp|cd|pushd|source|\.|[efrz]*grep|rg|ag|ack|sed|g?awk|sort|uniq|cut|tr|diff|cmp|file|stat|du|df|tee|jq|kill|pkill|killall|set|read|unset|type|which|whereis|npm|pnpm|yarn|make|cargo|pytest|jest|vitest|go|dotnet|mvn|ssh|docker|podman|kubectl)$/;

/** Returns the words after `--` or `exec` of a program that this policy does not know. */
function tails(args: readonly string[]): InnerCommand[] {
  const at = args.findIndex((word) => word === '--' || word === 'exec');
  const words = at === -1 ? [] : args.slice(args[at + 1] === '--' ? at + 2 : at + 1);
  if (words.length === 0 || !/^[\w/]/.test(words[0] ?? '')) return [];
  return [{ kind: 'words', words, isGuess: true }];
}

function* ofFind(name: string, args: readonly string[]): Generator<InnerCommand> {
  for (const words of findExecutions(name, args)) yield { kind: 'words', words };
}

function* suffixes(args: readonly string[], takesText: boolean): Generator<InnerCommand> {
  for (const [at, word] of args.entries()) {
    yield { kind: 'words', words: args.slice(at) };
    if (takesText && /\s/.test(word)) yield text(word);
  }
}

/** Returns the text that bash runs when it evaluates a word with a subscript. */
export function subscriptText(word: string): InnerCommand {
  return text(`: "${word.replaceAll('"', '')}"`);
}

function text(value: string): InnerCommand {
  return { kind: 'text', text: value };
}

function ofWrapper(
  args: readonly string[],
  wrapper: Wrapper,
  names: readonly string[] = [],
): InnerCommand[] {
  const found: InnerCommand[] = valuesOf(args, wrapper.text ?? []).map(text);
  const valued = [...(wrapper.text ?? []), ...(wrapper.splits ?? [])];
  const table = {
    ...wrapper,
    short: `${wrapper.short ?? ''}${shortLetters(valued)}`,
    long: [...(wrapper.long ?? []), ...longNames(valued)],
  };
  if (wrapper.splits !== undefined) found.push(...splitsOf(args));
  const replaced = replacedBy(args, wrapper.replaces ?? []);
  const { options, readings } = readOperands(args, table);
  const isExact = options.some((option) => wrapper.exact?.test(option));
  for (const reading of readings) {
    let words = replaced === undefined ? [...reading] : withUnknown(reading, replaced);
    while (wrapper.assignments === true && ASSIGNMENT.test(words[0] ?? '')) words.shift();
    // A folder or a number before the command is not optional.
    words = words.slice(wrapper.skip ?? 0);
    if (words[0] === '--') words.shift();
    // After the keyword `time`, bash reads `!` as "not".
    while (words[0] === '!') words.shift();
    if (wrapper.adds === true && replaced === undefined)
      words.push(...(words.length === 0 ? [] : [...names, SPLIT]));
    if (words.length === 0) continue;
    if (wrapper.joined === true && !isExact) {
      found.push({ kind: 'text', text: words.join(' '), words });
      const lines = wrapper.several === true && words.length > 1 ? words : [];
      found.push(...lines.filter((word) => /\s/.test(word)).map(text));
    } else found.push({ kind: 'words', words });
  }
  return found;
}

function longNames(options: readonly string[]): string[] {
  return options.filter((option) => option.startsWith('--')).map((option) => option.slice(2));
}

/** Returns what `env -S 'a b' c` runs: `env a b c`. */
function splitsOf(args: readonly string[]): InnerCommand[] {
  const at = args.findIndex((word) => /^-[^-S]*S|^--s/.test(word));
  if (at === -1) return [];
  const joined = (args[at] ?? '').replace(/^-[^-S]*S|^--s[a-z-]*=?/, '');
  const words = args.slice(joined === '' ? at + 2 : at + 1).map(quoted);
  return [text(['env', joined || (args[at + 1] ?? ''), ...words].join(' '))];
}

function quoted(word: string): string {
  return isMarked(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns the text that `xargs -I{}` replaces in the words of its command. */
function replacedBy(args: readonly string[], options: readonly string[]): string | undefined {
  if (options.length === 0) return undefined;
  const [given] = valuesOf(args, ['-I']);
  if (given !== undefined) return given;
  const optional = args.find((word) => /^(-i|--replace)/.test(word));
  return optional === undefined ? undefined : optional.replace(/^(-i|--replace=?)/, '') || '{}';
}

function withUnknown(words: readonly string[], replaced: string): string[] {
  return words.map((word) => word.replaceAll(replaced, UNKNOWN));
}

function shortLetters(options: readonly string[] = []): string {
  return options
    .filter((option) => !option.startsWith('--'))
    .map((option) => option.slice(1))
    .join('');
}

function ofSubcommand(
  args: readonly string[],
  subcommands: Readonly<Record<string, Wrapper>>,
): InnerCommand[] {
  const found: InnerCommand[] = [];
  for (const [at, word] of args.entries()) {
    const wrapper = Object.hasOwn(subcommands, word) ? subcommands[word] : undefined;
    if (wrapper !== undefined) found.push(...ofWrapper(args.slice(at + 1), wrapper));
    // The subcommand is the first operand, or the value of an option before it.
    if (!word.startsWith('-') && args[at - 1]?.startsWith('-') !== true) break;
  }
  return found;
}

function ofShell({ args, input }: SimpleCommand): InnerCommand[] {
  const { code, isStdin } = codeOf('shell', args);
  const found: InnerCommand[] = code.map(text);
  if (isStdin && input.from === 'text') found.push({ kind: 'text', text: input.text });
  return found;
}

function ofTrap(args: readonly string[]): InnerCommand[] {
  const [action] = args.filter((word) => word !== '--');
  return action === undefined || action === '-' || /^-[lpP]$/.test(action) ? [] : [text(action)];
}

function ofParallel(args: readonly string[]): InnerCommand[] {
  const { readings } = readOperands(args, {
    short: 'jajSNnLdICsXPm',
    long: [
      'jobs',
      'arg-file',
      'colsep',
      'delay',
      'joblog',
      'results',
      'timeout',
      'retries',
      'sshlogin',
      'max-args',
    ],
    flags: [
      'keep-order',
      'bar',
      'progress',
      'eta',
      'dry-run',
      'verbose',
      'will-cite',
      'line-buffer',
      'ungroup',
      'no-notice',
      'null',
    ],
  });
  return readings.flatMap((reading): InnerCommand[] => {
    const end = reading.findIndex((word) => /^:::/.test(word));
    const command = end === -1 ? reading : reading.slice(0, end);
    const values = end === -1 ? [] : reading.slice(end + 1).filter((word) => !/^:::/.test(word));
    if (command.length === 0) return values.length === 0 ? [text(SPLIT)] : values.map(text);
    // Its operands are joined and given to a shell, with values that are quoted.
    const line = command.join(' ');
    const known = values.length > 0 && values.length <= 32;
    return (known ? values : [UNKNOWN]).map((value) =>
      text(/\{[^{}]*\}/.test(line) ? line.replaceAll(/\{[^{}]*\}/g, value) : `${line} ${value}`),
    );
  });
}

function ofGit(args: readonly string[]): InnerCommand[] {
  const found: InnerCommand[] = [
    ...valuesOf(args, ['--upload-pack', '--receive-pack']).map(text),
    // An address of this kind is a command.
    ...args.filter((word) => word.startsWith('ext::')).map((word) => text(word.slice(5))),
  ];
  const [subcommand = '', ...own] = gitSubcommand(args);
  if (subcommand === 'clone') found.push(...valuesOf(own, ['-u']).map(text));
  if (/^(archive|push|send-pack|fetch-pack)$/.test(subcommand)) {
    found.push(...valuesOf(own, ['--exec']).map(text));
  }
  if (subcommand === 'grep') {
    found.push(
      ...valuesOf(own, ['-O'])
        .concat(own.flatMap((word) => /^--open[a-z-]*=(.*)$/s.exec(word)?.[1] ?? []))
        .map(text),
    );
  }
  for (const [key, value] of gitSettings(args)) {
    if (!GIT_RUNS.test(key)) continue;
    // `!` begins a command line; without it, an alias is a git command.
    if (value.startsWith('!')) found.push(text(value.slice(1)));
    else if (/^alias\./i.test(key)) found.push(text(`git ${value}`));
    else if (/hookspath/i.test(key)) found.push(text(isUnknown(value) ? SPLIT : ':'));
    else if (!/^(true|false|\d+|)$/i.test(value)) found.push(text(value));
  }
  const at = args.findIndex((word) =>
    /^(rebase|submodule|bisect|filter-branch|difftool)$/.test(word),
  );
  if (at === -1) return found;
  const rest = args.slice(at + 1);
  if (args[at] === 'rebase') found.push(...valuesOf(rest, ['-x', '--exec']).map(text));
  else if (args[at] === 'difftool') found.push(...valuesOf(rest, ['-x', '--extcmd']).map(text));
  else if (args[at] === 'submodule') {
    const each = rest.indexOf('foreach');
    if (each !== -1)
      found.push(
        text(
          rest
            .slice(each + 1)
            .filter((word) => word !== '--recursive' && word !== '--quiet')
            .join(' '),
        ),
      );
  } else if (args[at] === 'bisect' && rest[0] === 'run') {
    found.push({ kind: 'words', words: rest.slice(1) });
  } else if (args[at] === 'filter-branch') {
    found.push(...rest.filter((word) => /[\s;|&]/.test(word)).map(text));
  }
  return found;
}

function ofTar(args: readonly string[]): InnerCommand[] {
  const values = [
    ...ofBundle(args),
    ...valuesOf(args, [
      '-I',
      '--use-compress-program',
      '--to-command',
      '--checkpoint-action',
      '-F',
      '--info-script',
      '--new-volume-script',
      '--rsh-command',
    ]),
  ];
  return values.flatMap((value) => {
    if (value.startsWith('exec=')) return [text(value.slice(5))];
    return /^(dot|echo|sleep|ttyout|totals|wait)/.test(value) ? [] : [text(value)];
  });
}

/**
 * Finds the programs among the values of `cIf program archive`, which are in the order of the
 * letters.
 */
function ofBundle([letters = '', ...values]: readonly string[]): string[] {
  if (letters.startsWith('-')) return [];
  const valued = [...letters].filter((letter) => 'bfgCIFHKLNTVX'.includes(letter));
  return values.filter((_, at) => /[IF]/.test(valued[at] ?? ''));
}

/** Returns the values of options, in the same word or in the next. */
function valuesOf(args: readonly string[], options: readonly string[]): string[] {
  const values: string[] = [];
  for (const [at, word] of args.entries()) {
    for (const option of options) {
      const next = args[at + 1];
      if (option.startsWith('--')) {
        const [given = '', ...rest] = word.split('=');
        if (given.length < 3 || !option.startsWith(given)) continue;
        if (rest.length > 0) values.push(rest.join('='));
        else if (next !== undefined) values.push(next);
      } else if (word.startsWith('-') && !word.startsWith('--')) {
        const letter = word.indexOf(option.slice(1), 1);
        if (letter === -1) continue;
        const inWord = word.slice(letter + 1);
        if (inWord !== '') values.push(inWord);
        if (next !== undefined && inWord === '') values.push(next);
      }
    }
  }
  return values;
}
