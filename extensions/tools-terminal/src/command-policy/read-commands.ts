import {
  type Command,
  forEachChild,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { assignedIn } from './command-evaluations.js';
import { type Evaluations, findEvaluations } from './evaluations.js';
import { runsFetcher } from './fetchers.js';
import { findRoots } from './find-executions.js';
import { type Calls, callsOf, forkBombs } from './fork-bombs.js';
import {
  expandsTwice,
  hidesDescriptor,
  hidesInHereDoc,
  hidesInNumbers,
  hidesInQuotes,
  hidesSubstitution,
} from './hidden-text.js';
import { GLOB, SEARCH_PATH, UNKNOWN } from './marked-text.js';
import { valueText, wordText, wordTexts } from './shell-word.js';
import type {
  CommandAssignment,
  CommandInput,
  CommandRedirect,
  SimpleCommand,
} from './simple-command.js';
import { hasSubscript } from './subscripts.js';
import { commandOfWords } from './words-to-command.js';

/** The parts of a command line. */
export interface ReadCommands {
  commands: SimpleCommand[];
  functions: { name: string; calls: Calls; source: string }[];
  /** The functions that start themselves more than once. */
  forkBombs: ReadonlySet<string>;
  /** Parts that run a command which is known only at run time. */
  questions: { source: string; why: string }[];
  /** Words whose substitutions run when bash evaluates them as numbers. */
  subscripts: string[];
  /** Whether the line may evaluate a variable as a number. */
  isArithmetic: boolean;
  /** Variables that the grammar itself sets: in loops, arithmetic, expansions and descriptors. */
  assignments: { source: string; assignment: CommandAssignment }[];
  /** Coprocesses, which run beside the line. */
  coprocesses: string[];
  evaluations: Evaluations;
  /** Whether the whole line was understood. */
  isComplete: boolean;
}

/** Changes the input of commands after `exec < x`, because they read from that file. */
function withOwnInput(found: ReadCommands): ReadCommands {
  const changed = found.commands.find(
    ({ name, args, input }) => name === 'exec' && args.length === 0 && input.from !== 'nothing',
  );
  if (changed === undefined) return found;
  const input: CommandInput = changed.input.from === 'file' ? { from: 'pipe' } : changed.input;
  const commands = found.commands.map((command) =>
    command.input.from === 'nothing' ? { ...command, input } : command,
  );
  return { ...found, commands };
}

const MAX_NESTING = 100;

/** Whether brackets are nested deeper than anybody writes. Brackets in quotes count, too. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '(' || character === '{') depth += 1;
    else if (depth > 0 && (character === ')' || character === '}')) depth -= 1;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}

const NOTHING: CommandInput = { from: 'nothing' };

/**
 * Finds every command of a command line, wherever it stands.
 *
 * @param isWhole whether nothing around the text can have set variables
 */
export function readCommands(
  text: string,
  input: CommandInput = NOTHING,
  isWhole = true,
): ReadCommands {
  const found: ReadCommands = {
    commands: [],
    functions: [],
    forkBombs: new Set(),
    questions: [],
    subscripts: [],
    isArithmetic: false,
    assignments: [],
    coprocesses: [],
    evaluations: { unsure: [], setsVariables: true },
    isComplete: true,
  };
  // The attack: a mark character in the text itself, which would look like an unknown part.
  if (text.includes(SEARCH_PATH) || text.includes('\0') || !text.isWellFormed() || isDeep(text)) {
    return { ...found, isComplete: false };
  }
  try {
    const script = parse(text);
    visit(script, { source: text, input }, found);
    found.evaluations = findEvaluations(script, text, isWhole);
  } catch (error) {
    // The nesting is deeper than the call stack allows.
    if (!(error instanceof RangeError)) throw error;
    return { ...found, isComplete: false };
  }
  found.forkBombs = forkBombs(new Map(found.functions.map(({ name, calls }) => [name, calls])));
  return withOwnInput(found);
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
    case 'Assignment':
      if (hidesInNumbers(node.index?.text ?? '')) found.isComplete = false;
      break;
    case 'Command':
      found.commands.push(toSimpleCommand(node, around));
      if (isArithmetic(node)) found.isArithmetic = true;
      if (hidesDescriptor(node)) found.isComplete = false;
      break;
    case 'Pipeline': {
      let input = around.input;
      for (const stage of node.commands) {
        visit(stage, { ...around, input }, found);
        if (input.from !== 'fetch') input = fetches(stage) ? { from: 'fetch' } : pipeOf(stage);
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
      found.functions.push({ name, calls: callsOf(node.body), source });
      // The input of its calls is not followed.
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
    case 'ArithmeticCommand':
    case 'ArithmeticFor':
      found.isArithmetic = true;
      if (hidesInNumbers(around.source.slice(node.pos, node.end))) found.isComplete = false;
      setByNumbers(node, around, found);
      break;
    case 'For':
    case 'Select': {
      const { value: name } = node.name;
      const values = node.wordlist?.flatMap(wordTexts) ?? [UNKNOWN];
      const source = around.source.slice(node.pos, node.body.pos);
      for (const value of values) found.assignments.push({ source, assignment: { name, value } });
      if (node.type === 'Select') {
        found.assignments.push({ source, assignment: { name: 'REPLY', value: UNKNOWN } });
      }
      break;
    }
    case 'Coproc':
      found.coprocesses.push(around.source.slice(node.pos, node.end));
      found.assignments.push({
        source: 'coproc',
        assignment: { name: node.name?.value ?? 'COPROC', value: UNKNOWN },
      });
      break;
    case 'HereDoc':
      if (node.body.parts?.some(hidesInHereDoc) === true) found.isComplete = false;
      break;
    case 'Redirect':
      if (expandsTwice(node)) {
        const source = around.source.slice(node.pos, node.end);
        found.questions.push({ source, why: 'runs the substitutions in the name of a file' });
      }
      if (node.descriptor?.type === 'FileDescriptorVariable') {
        found.assignments.push({
          source: around.source.slice(node.pos, node.end),
          assignment: { name: node.descriptor.name.replace(/\[.*$/s, ''), value: UNKNOWN },
        });
      }
      break;
    case 'ArithmeticExpansion':
      found.isArithmetic = true;
      setByNumbers(node, around, found);
      if (hidesInNumbers(node.text)) found.isComplete = false;
      if (node.expression === undefined && /[`$]/.test(node.text.slice(3, -2))) {
        found.isComplete = false;
      }
      break;
    case 'Word':
      if (hidesSubstitution(node) || node.parts?.some(hidesInQuotes)) found.isComplete = false;
      found.subscripts.push(...wordTexts(node).filter(hasSubscript));
      break;
    case 'TestUnary':
      if (node.operator === '-v' && hasSubscript(wordText(node.operand))) found.isComplete = false;
      break;
    case 'TestBinary':
      if (/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
        found.isArithmetic = true;
        const operands = [wordText(node.left), wordText(node.right)];
        if (operands.some(hasSubscript)) found.isComplete = false;
      }
      break;
    case 'ParameterExpansion':
      if (node.operation?.type === 'Default' && node.operation.operator.endsWith('=')) {
        found.assignments.push({
          source: node.text,
          assignment: {
            // `${!x:=y}` sets the variable that `x` names.
            name: node.prefix === '!' ? UNKNOWN : node.parameter,
            value: wordText(node.operation.operand),
          },
        });
      }
      if (
        node.operation?.type === 'Transform' &&
        /P|[^A-Za-z]/.test(wordText(node.operation.operand))
      ) {
        found.questions.push({ source: node.text, why: 'runs the substitutions in a variable' });
      }
      if (
        /[A-Za-z$]/.test(node.index?.text ?? '') ||
        node.operation?.type === 'Slice' ||
        node.prefix === '!'
      ) {
        found.isArithmetic = true;
      }
      if (hidesInNumbers(node.index?.text ?? '')) found.isComplete = false;
      // The parser ends the pattern at the first slash, even when it is inside a substitution.
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

/** Adds the variables that an arithmetic expression sets. */
function setByNumbers(node: SyntaxNode, { source }: Around, found: ReadCommands): void {
  const end = node.type === 'ArithmeticFor' ? node.body.pos : node.end;
  const text = source.slice(node.pos, end);
  for (const name of assignedIn(text)) {
    found.assignments.push({ source: text, assignment: { name, value: UNKNOWN } });
  }
}

/**
 * Whether a command reads the value of a variable as a number, or as the name of another variable.
 */
function isArithmetic(node: Command): boolean {
  if (
    node.prefix.some(
      (part) => part.type === 'Assignment' && /[A-Za-z$]/.test(part.index?.text ?? ''),
    )
  )
    return true;
  const name = node.name?.value ?? '';
  if (name === 'let') return true;
  const words = node.args.flatMap((argument) => (argument.type === 'Word' ? [argument.value] : []));
  return (
    (/^(declare|typeset|local|export|readonly)$/.test(name) &&
      words.some((word) => /^-[a-zA-Z]*[in]/.test(word))) ||
    (/^(test|\[)$/.test(name) && words.includes('-v'))
  );
}

function toSimpleCommand(node: Command, { source, input }: Around): SimpleCommand {
  const words: string[] = [];
  const assignments = [];
  for (const part of [...node.prefix, ...(node.name ? [node.name] : []), ...node.suffix]) {
    if (part.type === 'Word') words.push(...wordTexts(part));
    else if (part.type === 'Assignment') {
      const value = part.value.type === 'Word' ? valueText(part.value) : '';
      // After the name of a command, it is one of its words as well.
      if (words.length > 0) words.push(`${part.name}${part.append ? '+' : ''}=${value}`);
      else
        assignments.push({
          name: part.name,
          value,
          ...(part.append === true && { appends: true }),
        });
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
    const { target: word, operator } = redirect;
    // The command inside is judged on its own.
    const isProcess = word.parts?.length === 1 && word.parts[0]?.type === 'ProcessSubstitution';
    const target = isProcess ? '/dev/fd/63' : wordText(word);
    if (operator.includes('&') && /^(\d+-?|-)$/.test(target)) return [];
    return [{ reads: operator.includes('<'), writes: operator.includes('>'), target }];
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

function embedsFetch(node: SyntaxNode): boolean {
  let found = false;
  forEachChild(node, (child) => {
    found ||= fetches(child);
  });
  return found;
}
