import { forEachChild, type Redirection, type SyntaxNode, type Word } from 'unbash';
import { runsFetcher } from './fetchers.js';
import { findRoots } from './find-executions.js';
import { GLOB } from './marked-text.js';
import { wordText, wordTexts } from './shell-word.js';
import type { CommandInput, SimpleCommand } from './simple-command.js';

/**
 * Returns the input of a command after its redirections.
 *
 * @param before its input without them
 */
export function inputOf(redirects: readonly Redirection[], before: CommandInput): CommandInput {
  let input = before;
  for (const redirect of redirects) {
    const to = redirect.descriptor;
    if (to !== undefined && !(to.type === 'FileDescriptor' && to.value === 0)) continue;
    if (redirect.type === 'HereDoc') {
      input = { from: 'text', text: hereDocText(redirect.body) };
    } else if (redirect.type === 'HereString') {
      input =
        redirect.target && fetches(redirect.target)
          ? { from: 'fetch' }
          : { from: 'text', text: redirect.target ? wordText(redirect.target) : '' };
    } else if (redirect.operator === '<' || redirect.operator === '<>') {
      input = inputFile(redirect.target);
    } else if (redirect.operator === '<&') input = { from: 'pipe' };
  }
  return input;
}

function inputFile(target: Word | undefined): CommandInput {
  if (target === undefined) return { from: 'file' };
  if (fetches(target) || /^\/dev\/(tcp|udp)\//.test(wordText(target))) return { from: 'fetch' };
  const isFile = target.parts?.some((part) => part.type === 'ProcessSubstitution') !== true;
  return isFile && !/^\/(dev|proc)\//.test(wordText(target)) ? { from: 'file' } : { from: 'pipe' };
}

function hereDocText(body: Extract<Redirection, { type: 'HereDoc' }>['body']): string {
  if (body.parts === undefined) return body.text;
  return wordText({ ...body, type: 'Word', value: body.text });
}

/**
 * Returns the input of the next command in a pipeline. What was fetched once stays fetched.
 *
 * @param stage the command before it
 * @param before the input of that command
 */
export function inputAfter(stage: SyntaxNode, before: CommandInput): CommandInput {
  if (before.from === 'fetch') return before;
  return fetches(stage) ? { from: 'fetch' } : pipeOf(stage);
}

function pipeOf(stage: SyntaxNode): CommandInput {
  if (stage.type !== 'Command' || stage.name === undefined) return { from: 'pipe' };
  const args = stage.args.flatMap((argument) =>
    argument.type === 'Word' ? wordTexts(argument) : [],
  );
  if (/^(echo|printf)$/.test(stage.name.value)) return { from: 'pipe', said: args.join(' ') };
  if (!/^(g?find|ls)$/.test(stage.name.value)) return { from: 'pipe' };
  const roots = findRoots(
    args.filter((word) => stage.name?.value !== 'ls' || !word.startsWith('-')),
  );
  return { from: 'pipe', found: roots.map((root) => `${root}/${GLOB}found`) };
}

/** Changes the input of commands after `exec < x`, because they read from that file. */
export function withOwnInput(commands: SimpleCommand[]): SimpleCommand[] {
  const changed = commands.find(
    ({ name, args, input }) => name === 'exec' && args.length === 0 && input.from !== 'nothing',
  );
  if (changed === undefined) return commands;
  const input: CommandInput = changed.input.from === 'file' ? { from: 'pipe' } : changed.input;
  return commands.map((command) =>
    command.input.from === 'nothing' ? { ...command, input } : command,
  );
}

const FETCHING = new WeakMap<SyntaxNode, boolean>();

/** Whether a network fetch is anywhere in a part of a command line. */
function fetches(node: SyntaxNode): boolean {
  const known = FETCHING.get(node);
  if (known !== undefined) return known;
  const found = fetchesItself(node);
  FETCHING.set(node, found);
  return found;
}

function fetchesItself(node: SyntaxNode): boolean {
  if (node.type === 'Command') {
    const words = node.name === undefined ? [] : wordTexts(node.name);
    for (const argument of node.args)
      if (argument.type === 'Word') words.push(...wordTexts(argument));
    if (runsFetcher(words)) return true;
  }
  return embedsFetch(node);
}

/** Whether a network fetch is below a part of a command line. */
export function embedsFetch(node: SyntaxNode): boolean {
  let found = false;
  forEachChild(node, (child) => {
    found ||= fetches(child);
  });
  return found;
}
