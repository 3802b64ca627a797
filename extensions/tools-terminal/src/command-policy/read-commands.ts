import { type Command, forEachChild, parse, type SyntaxNode } from 'unbash';
import { inputAfter, inputOf, withOwnInput } from './command-input.js';
import { type Evaluations, findEvaluations } from './evaluations.js';
import { type Calls, callsOf, forkBombs } from './fork-bombs.js';
import {
  expandsTwice,
  hidesDescriptor,
  hidesInHereDoc,
  hidesInNumbers,
  hidesInQuotes,
  hidesSubstitution,
} from './hidden-text.js';
import { SEARCH_PATH, UNKNOWN } from './marked-text.js';
import { wordText, wordTexts } from './shell-word.js';
import type { CommandAssignment, CommandInput, SimpleCommand } from './simple-command.js';
import { hasSubscript } from './subscripts.js';
import { type Around, redirectsOnly, toSimpleCommand } from './syntax-to-command.js';

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
  /** Variables that the line sets without a command: in loops, arithmetic, expansions, descriptors. */
  assignments: { source: string; assignment: CommandAssignment }[];
  /** Coprocesses, which run beside the line. */
  coprocesses: string[];
  evaluations: Evaluations;
  /** Whether the whole line was understood. */
  isComplete: boolean;
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
    evaluations: { unsure: [], assigned: [], setsVariables: true },
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
    for (const { name, source } of found.evaluations.assigned) {
      found.assignments.push({ source, assignment: { name, value: UNKNOWN } });
    }
  } catch (error) {
    // The nesting is deeper than the call stack allows.
    if (!(error instanceof RangeError)) throw error;
    return { ...found, isComplete: false };
  }
  found.forkBombs = forkBombs(new Map(found.functions.map(({ name, calls }) => [name, calls])));
  return { ...found, commands: withOwnInput(found.commands) };
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
        input = inputAfter(stage, input);
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
      // Bash may find another end of it than the parser, as in `${x[$(command)}]}`.
      if (node.operation?.type === 'Unknown') found.isComplete = false;
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
