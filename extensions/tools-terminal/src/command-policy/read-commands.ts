import {
  type Command,
  forEachChild,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { runsFetcher } from './fetchers.js';
import { wordText, wordTexts } from './shell-word.js';
import type { CommandInput, CommandRedirect, SimpleCommand } from './simple-command.js';
import { hasSubscript } from './subscripts.js';
import { commandOfWords } from './words-to-command.js';

/** What a command line consists of. */
export interface ReadCommands {
  commands: SimpleCommand[];
  functions: { name: string; isForkBomb: boolean; source: string }[];
  /** Whether all of it was understood. */
  isComplete: boolean;
}

const NOTHING: CommandInput = { from: 'nothing' };

/** Finds every command of a command line, wherever it stands. */
export function readCommands(text: string, input: CommandInput = NOTHING): ReadCommands {
  const found: ReadCommands = { commands: [], functions: [], isComplete: true };
  if (text.includes('\0') || !text.isWellFormed()) return { ...found, isComplete: false };
  visit(parse(text), { source: text, input }, found);
  return found;
}

interface Around {
  source: string;
  input: CommandInput;
}

function visit(node: SyntaxNode, around: Around, found: ReadCommands): void {
  switch (node.type) {
    case 'Script': {
      if ('errors' in node && node.errors !== undefined && node.errors.length > 0) {
        found.isComplete = false;
      }
      const inside = node.source === undefined ? around : { ...around, source: node.source };
      forEachChild(node, (child) => visit(child, inside, found));
      return;
    }
    case 'Command':
      found.commands.push(toSimpleCommand(node, around));
      break;
    case 'Pipeline': {
      let input = around.input;
      for (const stage of node.commands) {
        visit(stage, { ...around, input }, found);
        if (input.from !== 'fetch') input = { from: fetches(stage) ? 'fetch' : 'pipe' };
      }
      return;
    }
    case 'Redirected': {
      const input = inputOf(node.redirects, around.input);
      visit(node.command, { ...around, input }, found);
      for (const redirect of node.redirects) visit(redirect, around, found);
      found.commands.push(
        redirectsOnly(node.redirects, around, around.source.slice(node.pos, node.end)),
      );
      return;
    }
    case 'Function': {
      const source = around.source.slice(node.pos, node.end);
      const name = node.name.value;
      found.functions.push({ name, isForkBomb: multiplies(name, node.body), source });
      // Where its calls read from is not looked up.
      forEachChild(node, (child) => visit(child, { ...around, input: { from: 'pipe' } }, found));
      return;
    }
    case 'CommandExpansion':
    case 'ArithmeticCommandExpansion':
      if (node.script === undefined) found.isComplete = false;
      break;
    case 'ProcessSubstitution':
      if (node.script === undefined) found.isComplete = false;
      else if (node.operator === '>') {
        const input: CommandInput = around.input.from === 'fetch' ? around.input : { from: 'pipe' };
        visit(node.script, { ...around, input }, found);
        return;
      }
      break;
    case 'ArithmeticExpansion':
      if (node.expression === undefined && /[`$]/.test(node.text.slice(3, -2))) {
        found.isComplete = false;
      }
      break;
    case 'Word':
      if (hidesSubstitution(node)) found.isComplete = false;
      break;
    case 'TestUnary':
      if (node.operator === '-v' && hasSubscript(wordText(node.operand))) found.isComplete = false;
      break;
    case 'TestBinary':
      if (/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
        const operands = [wordText(node.left), wordText(node.right)];
        if (operands.some(hasSubscript)) found.isComplete = false;
      }
      break;
    case 'ParameterExpansion':
      // The parser ends the pattern at the first slash, also at one within a substitution.
      if (node.operation?.type === 'Replace' && /`|[$<>]\(|\$\{[ \t\n|]/.test(node.text)) {
        found.isComplete = false;
      }
      break;
    case 'ExtendedGlob':
      // Without `extglob`, `!(rm x)` is a command.
      visit(parse(node.pattern), { source: node.pattern, input: around.input }, found);
      break;
  }
  const input = node.type === 'Command' ? inputOf(node.redirects, around.input) : around.input;
  forEachChild(node, (child) => visit(child, { ...around, input }, found));
}

function toSimpleCommand(node: Command, { source, input }: Around): SimpleCommand {
  const words: string[] = [];
  const assignments = [];
  for (const part of [...node.prefix, ...(node.name ? [node.name] : []), ...node.suffix]) {
    if (part.type === 'Word') words.push(...wordTexts(part));
    else if (part.type === 'Assignment') {
      const value = part.value.type === 'Word' ? wordText(part.value) : '';
      // After the name of a command, it is one of its words as well.
      if (words.length > 0) words.push(`${part.name}${part.append ? '+' : ''}=${value}`);
      else assignments.push({ name: part.name, value });
    }
  }
  return commandOfWords(words, {
    assignments,
    redirects: redirectsOf(node.redirects),
    input: inputOf(node.redirects, input),
    embedsFetch: words.length > 0 && embedsFetch(node),
    source: source.slice(node.pos, node.end),
  });
}

function redirectsOnly(
  redirects: readonly Redirection[],
  { input }: Around,
  source: string,
): SimpleCommand {
  return commandOfWords([], {
    assignments: [],
    redirects: redirectsOf(redirects),
    input,
    embedsFetch: false,
    source,
  });
}

function redirectsOf(redirects: readonly Redirection[]): CommandRedirect[] {
  return redirects.flatMap((redirect) => {
    if (redirect.type !== 'Redirect' || redirect.target === undefined) return [];
    const target = wordText(redirect.target);
    if (redirect.operator.includes('&') && /^(\d+-?|-)$/.test(target)) return [];
    return [{ writes: redirect.operator.includes('>'), target }];
  });
}

function inputOf(redirects: readonly Redirection[], before: CommandInput): CommandInput {
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
      input = { from: inputFile(redirect.target) };
    } else if (redirect.operator === '<&') input = { from: 'pipe' };
  }
  return input;
}

function inputFile(target: Word | undefined): 'fetch' | 'pipe' | 'file' {
  if (target === undefined) return 'file';
  if (fetches(target) || /^\/dev\/(tcp|udp)\//.test(wordText(target))) return 'fetch';
  const isFile = target.parts?.some((part) => part.type === 'ProcessSubstitution') !== true;
  return isFile && !/^\/(dev|proc)\//.test(wordText(target)) ? 'file' : 'pipe';
}

function hereDocText(body: Extract<Redirection, { type: 'HereDoc' }>['body']): string {
  if (body.parts === undefined) return body.text;
  return wordText({ ...body, type: 'Word', value: body.text });
}

/** Whether a network fetch is anywhere in a part of a command line. */
function fetches(node: SyntaxNode): boolean {
  if (node.type === 'Command') {
    const words = node.name === undefined ? [] : wordTexts(node.name);
    for (const argument of node.args)
      if (argument.type === 'Word') words.push(...wordTexts(argument));
    if (runsFetcher(words)) return true;
  }
  return embedsFetch(node);
}

function embedsFetch(node: SyntaxNode): boolean {
  let found = false;
  forEachChild(node, (child) => {
    found ||= fetches(child);
  });
  return found;
}

/** Whether a function starts itself more than once, or in the background. */
function multiplies(name: string, body: SyntaxNode): boolean {
  let calls = 0;
  let inBackground = false;
  const look = (node: SyntaxNode, background: boolean): void => {
    if (node.type === 'Command' && node.name?.value === name) {
      calls += 1;
      inBackground ||= background;
    }
    const beside =
      background ||
      node.type === 'Pipeline' ||
      node.type === 'Coproc' ||
      (node.type === 'Statement' && node.background === true);
    forEachChild(node, (child) => look(child, beside));
  };
  look(body, false);
  return inBackground || calls > 1;
}

const SUBSTITUTION = /^(?:[^\\]|\\.)*?(?:[<>$]\(|\$\{|`)/s;

/** Whether a word has a substitution that the parser took for text, as in `1<(command)` or `a[ ]$(command)`. */
function hidesSubstitution({ text, parts }: Word): boolean {
  if (parts === undefined) return SUBSTITUTION.test(text);
  return parts.some((part) => part.type === 'Literal' && SUBSTITUTION.test(part.text));
}
