import { findExecutions } from './find-executions.js';
import { codeOf, isShell } from './interpreters.js';
import { isUnknown, SPLIT, UNKNOWN } from './marked-text.js';
import { readOperands } from './options.js';
import type { CommandInput, SimpleCommand } from './simple-command.js';
import { hasSubscript } from './subscripts.js';
import {
  EVALUATES_SUBSCRIPTS,
  SUBCOMMAND_WRAPPERS,
  SUFFIX_WRAPPERS,
  WRAPPERS,
  type Wrapper,
} from './wrappers.js';

/** A command that another command runs. */
export type InnerCommand =
  | { kind: 'words'; words: readonly string[]; input?: CommandInput }
  | { kind: 'text'; text: string; input?: CommandInput };

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/** What a command runs: the operands of `sudo`, the text of `bash -c`, and their like. */
export function innerCommands(command: SimpleCommand): InnerCommand[] {
  const { name, args } = command;
  if (name === undefined || name === '') return [];
  if (isShell(name)) return ofShell(command);
  switch (name) {
    case 'eval':
      return [{ kind: 'text', text: args.join(' ') }];
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
      return findExecutions(name, args).map((words) => ({ kind: 'words', words }));
    case 'parallel':
      return ofParallel(args);
    case 'git':
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
    case 'complete':
    case 'bind':
      return valuesOf(args, ['-C', '-x']).map(text);
  }
  if (SUFFIX_WRAPPERS.test(name)) {
    return args.map((_, at) => ({ kind: 'words', words: args.slice(at) }));
  }
  if (EVALUATES_SUBSCRIPTS.test(name)) return args.filter(hasSubscript).map(subscriptText);
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper !== undefined) return ofWrapper(args, wrapper);
  const subcommands = Object.hasOwn(SUBCOMMAND_WRAPPERS, name)
    ? SUBCOMMAND_WRAPPERS[name]
    : undefined;
  return subcommands === undefined ? [] : ofSubcommand(args, subcommands);
}

/** Such text as what bash makes of it. */
export function subscriptText(word: string): InnerCommand {
  return text(`: "${word.replaceAll('"', '')}"`);
}

function text(value: string): InnerCommand {
  return { kind: 'text', text: value };
}

function ofWrapper(args: readonly string[], wrapper: Wrapper): InnerCommand[] {
  const found: InnerCommand[] = valuesOf(args, wrapper.text ?? []).map(text);
  const table = { ...wrapper, short: `${wrapper.short ?? ''}${shortLetters(wrapper.text)}` };
  for (const reading of readOperands(args, table).readings) {
    let words = [...reading];
    while (wrapper.assignments === true && ASSIGNMENT.test(words[0] ?? '')) words.shift();
    // A folder or a number before the command may be missing as little as the command itself.
    words = words.slice(wrapper.skip ?? 0);
    if (words[0] === '--') words.shift();
    if (wrapper.adds === true) words.push(...(words.length === 0 ? [] : [SPLIT]));
    if (words.length === 0) continue;
    if (wrapper.joined === true) {
      found.push(text(words.join(' ')));
      // Some take several command lines.
      if (words.length > 1) found.push(...words.filter((word) => /\s/.test(word)).map(text));
    } else found.push({ kind: 'words', words });
  }
  return found;
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
  return args.flatMap((word, at) => {
    const isFirst = args
      .slice(0, at)
      .every((before, index) => before.startsWith('-') || args[index - 1]?.startsWith('-'));
    const wrapper = isFirst && Object.hasOwn(subcommands, word) ? subcommands[word] : undefined;
    return wrapper === undefined ? [] : ofWrapper(args.slice(at + 1), wrapper);
  });
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
      text(/\{[^}]*\}/.test(line) ? line.replaceAll(/\{[^}]*\}/g, value) : `${line} ${value}`),
    );
  });
}

const GIT_RUNS =
  /^(alias\..*|core\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy|hookspath|alternaterefscommand)|sequence\.editor|diff\.external|diff\..*\.(command|textconv)|difftool\..*\.cmd|mergetool\..*\.cmd|merge\..*\.driver|filter\..*\.(clean|smudge|process)|pager\..*|gpg\.(.*\.)?program|credential\.(.*\.)?helper|interactive\.difffilter|uploadpack\.packobjectshook|remote\..*\.(uploadpack|receivepack|vcs)|receive\..*|sendemail\..*cmd|web\.browser|browser\..*\.cmd|man\..*\.cmd|http\.(.*\.)?sslcert)$/i;

function ofGit(args: readonly string[]): InnerCommand[] {
  const found: InnerCommand[] = [];
  for (const setting of [...valuesOf(args, ['-c', '--config']), ...configOf(args)]) {
    const at = setting.indexOf('=');
    const key = at === -1 ? setting : setting.slice(0, at);
    if (!GIT_RUNS.test(key)) continue;
    const value = setting.slice(at + 1);
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

function configOf(args: readonly string[]): string[] {
  const at = args.indexOf('config');
  if (at === -1) return [];
  const operands = args.slice(at + 1).filter((word) => !word.startsWith('-') && word !== 'set');
  const [key, value] = operands;
  return key === undefined || value === undefined ? [] : [`${key}=${value}`];
}

function ofTar(args: readonly string[]): InnerCommand[] {
  const values = valuesOf(args, [
    '-I',
    '--use-compress-program',
    '--to-command',
    '--checkpoint-action',
    '-F',
    '--info-script',
    '--new-volume-script',
    '--rsh-command',
  ]);
  return values.flatMap((value) => {
    if (value.startsWith('exec=')) return [text(value.slice(5))];
    return /^(dot|echo|sleep|ttyout|totals|wait)/.test(value) ? [] : [text(value)];
  });
}

/** The values of options, whether they stand in the same word or in the next. */
function valuesOf(args: readonly string[], options: readonly string[]): string[] {
  const values: string[] = [];
  for (const [at, word] of args.entries()) {
    for (const option of options) {
      const next = args[at + 1];
      if (option.startsWith('--')) {
        const [given = '', ...rest] = word.split('=');
        if (given.length < 4 || !option.startsWith(given)) continue;
        if (rest.length > 0) values.push(rest.join('='));
        else if (given === option && next !== undefined) values.push(next);
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
