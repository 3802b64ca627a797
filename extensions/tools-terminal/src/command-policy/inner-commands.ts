import { findExecutions } from './find-executions.js';
import { ofGit } from './inner-commands/git.js';
import { type InnerCommand, subscriptText, text } from './inner-commands/inner-command.js';
import { ofParallel } from './inner-commands/parallel.js';
import { ofTar } from './inner-commands/tar.js';
import { ofSubcommand, ofWrapper } from './inner-commands/wrapper.js';
import { codeOf, isShell } from './interpreters.js';
import { valuesOf } from './options.js';
import type { SimpleCommand } from './simple-command.js';
import { hasSubscript } from './subscripts.js';
import {
  EVALUATES_SUBSCRIPTS,
  SUBCOMMAND_WRAPPERS,
  SUFFIX_TEXT,
  SUFFIX_WRAPPERS,
  WRAPPERS,
} from './wrappers.js';

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
