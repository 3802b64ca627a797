import type { Command, Word } from 'unbash';
import { appended, RUNS, readsOf } from './arithmetic-text.js';
import { replaceBrackets } from './shell-word.js';
import { readsAsText } from './tame-commands.js';
import type { ValueFlow } from './value-flow.js';
import { DECLARES, printfOperands, variableOperands } from './variable-operands.js';

/** Finds which words a command of bash sets as variables, and which it evaluates. */
export class CommandEvaluations {
  readonly #flow: ValueFlow;
  readonly #textOf: (word: Word) => string;
  readonly #calls: { name: string; args: string[] }[] = [];

  constructor(flow: ValueFlow, textOf: (word: Word) => string) {
    this.#flow = flow;
    this.#textOf = textOf;
  }

  /** Adds the arguments that calls pass to functions with these names. */
  callFunctions(functions: ReadonlySet<string>): void {
    if (functions.has('command_not_found_handle')) this.#flow.set('@', RUNS);
    for (const { name, args } of this.#calls) {
      if (!functions.has(name) && (name !== RUNS || functions.size === 0)) continue;
      for (const arg of args) this.#flow.set('@', arg);
    }
  }

  add(node: Command): void {
    const all = node.name === undefined ? [] : [node.name, ...node.args];
    const texts = all.map((word) => (word.type === 'Word' ? this.#textOf(word) : 'x=1'));
    let at = 0;
    while (/^(command|builtin|-[pvV]|--)$/.test(texts[at] ?? '')) at += 1;
    const name = texts[at] ?? '';
    const args = texts.slice(at + 1);
    const source = all.map((word) => word.text).join(' ');
    this.#calls.push({ name: readsAsText(name) ? name : RUNS, args });
    this.#descriptors(node);
    // After brace expansion, the word may be any of these.
    const isSpread = all.some(hasBraces);
    if (isSpread && ((node.name && hasBraces(node.name)) || SETS.test(name))) {
      this.#flow.openAll();
      this.#flow.addInteger();
    }
    if (DECLARES.test(name)) this.#declares(node.args.slice(at), source);
    else if (/^(test|\[)$/.test(name)) this.#tests(args, node.args.slice(at), source);
    else this.#sets(name, args, source);
    if (name === 'printf') this.#format(args, all.slice(at + 1), source);
  }

  /** Adds the format of `printf`: the first word that does not become nothing, or several. */
  #format(args: readonly string[], words: Command['args'], source: string): void {
    // In quotes that expand nothing, these are only characters.
    const texts = args.map((arg, at) =>
      isPlainlyQuoted(words[at]) ? arg.replaceAll(/[$`*?[{]/g, ' ') : arg,
    );
    const open = new Set(texts.filter((_, at) => maySpread(words[at])));
    const operands = printfOperands(texts);
    const fixed = operands.findIndex((operand) => !open.has(operand));
    const formats = operands.slice(0, fixed === -1 ? operands.length : fixed + 1);
    const rest = operands.slice(1);
    // What becomes several words brings more operands.
    if (open.size > 0) rest.push('$@');
    this.#flow.addFormat({ text: formats.join('\n'), operands: rest, source });
  }

  #descriptors({ redirects }: Command): void {
    for (const { descriptor } of redirects) {
      if (descriptor?.type !== 'FileDescriptorVariable') continue;
      this.#flow.set(descriptor.name.replace(/\[.*$/s, ''), '1');
      if (descriptor.name.includes('[')) this.#flow.evaluate(descriptor.name);
    }
  }

  #sets(name: string, args: readonly string[], source: string): void {
    const flow = this.#flow;
    if (name === 'set') for (const arg of args) flow.set('@', arg);
    if (name === 'let') {
      for (const arg of args) flow.evaluate(arg, source);
    }
    // The variables that such a text sets are not followed.
    if (/^(eval|trap|alias)$/.test(name)) {
      if (args.some((arg) => MAY_SET.test(arg) || readsOf(arg).runs)) flow.openAll();
    }
    // The format may be `-v` and the name of a variable.
    if (name === 'printf' && /^[$`]/.test(args[0] ?? '')) flow.evaluate(args[0] ?? '', source);
    for (const operand of variableOperands(name, args) ?? []) this.#operand(name, operand, source);
  }

  #operand(name: string, operand: string, source: string): void {
    const [variable, subscript] = /^([A-Za-z_]\w*)(\[.*)?$/s.exec(operand)?.slice(1) ?? [];
    if (variable === undefined || subscript !== undefined) this.#flow.evaluate(operand, source);
    if (name === 'unset') return;
    if (variable === undefined) {
      this.#flow.openAll();
      return;
    }
    if (subscript !== undefined || /^(mapfile|readarray|read)$/.test(name)) {
      this.#flow.addArray(variable);
    }
    const isNumber = /^(wait|getopts)$/.test(name) && operand !== 'OPTARG';
    this.#flow.set(variable, isNumber ? '1' : RUNS);
  }

  #declares(args: Command['args'], source: string): void {
    const flow = this.#flow;
    let isArray = false;
    for (const arg of args) {
      // The variable that it sets is found at the assignment itself.
      if (arg.type === 'Assignment') {
        if (isArray) flow.addArray(arg.name);
        if (arg.value.type === 'Word') flow.declare(arg.name, this.#textOf(arg.value), source);
        continue;
      }
      const text = this.#textOf(arg);
      if (/^[-+][a-zA-Z]+$/.test(text)) {
        if (/^-.*i/.test(text)) flow.addInteger();
        if (/^-.*[aA]/.test(text)) isArray = true;
        if (/^-.*n/.test(text)) flow.openAll();
        continue;
      }
      const [, name, subscript, append, given] =
        /^([A-Za-z_]\w*)(\[[^=]*\])?(?:(\+?)=(.*))?$/s.exec(text) ?? [];
      if (name === undefined) {
        flow.evaluate(text, source);
        if (readsAsText(text)) continue;
        flow.openAll();
        flow.addInteger();
        isArray = true;
        continue;
      }
      if (isArray || subscript !== undefined) flow.addArray(name);
      if (subscript !== undefined) flow.evaluate(subscript, source);
      if (given === undefined) continue;
      const value = append === '' ? given : appended(name, given);
      flow.set(name, value);
      flow.declare(name, value, source);
    }
  }

  #tests(args: readonly string[], words: Command['args'], source: string): void {
    for (const [at, arg] of args.entries()) {
      const next = args[at + 1];
      const word = words[at];
      if (/^-[vR]$/.test(arg) && next !== undefined) this.#flow.evaluate(next, source);
      // One word may expand to `-v` and its operand.
      if (word !== undefined && maySpread(word)) this.#flow.evaluate(arg, source);
      // Two words may, too: an operator that is only known at run time, and its operand.
      if (word === undefined || next === undefined || !/[$`[]/.test(next)) continue;
      if (MAY_BE_OPERATOR.test(arg) || hasPart(word, /^BraceExpansion$/)) {
        this.#flow.evaluate(next, source);
      }
    }
  }
}

/** Whether a word may expand to several words that are known only at run time. */
function maySpread(word: Command['args'][number] | undefined): boolean {
  if (word === undefined) return false;
  if (hasPart(word, SPLITS)) return true;
  if (hasPart(word, /^ExtendedGlob$/)) return true;
  if (hasPart(word, /^Glob$/)) return /^-?[vR]?$/.test(fixedPart(word.text));
  return hasPart(word, QUOTED) && LIST.test(word.text);
}

/** Whether the whole word is in quotes that expand nothing. */
function isPlainlyQuoted(word: Command['args'][number] | undefined): boolean {
  if (word?.type !== 'Word' || word.parts === undefined) return false;
  return word.parts.every(({ type }) => /^(SingleQuoted|AnsiCQuoted)$/.test(type));
}

/** The part of a pattern that what it matches has, too. */
function fixedPart(pattern: string): string {
  return replaceBrackets(pattern.replaceAll(/[*?'"\\$]/g, ''), '');
}

function hasBraces(word: Command['args'][number]): boolean {
  return hasPart(word, /^BraceExpansion$/);
}

function hasPart(word: Command['args'][number], kind: RegExp): boolean {
  return word.type === 'Word' && word.parts?.some(({ type }) => kind.test(type)) === true;
}

const SETS =
  /^(read|mapfile|readarray|printf|getopts|declare|typeset|local|export|readonly|let|wait|unset)$/;
const SPLITS = /^(SimpleExpansion|ParameterExpansion|CommandExpansion|BraceExpansion)$/;
const QUOTED = /^(DoubleQuoted|LocaleString)$/;
/**
 * Matches expansions that give several words even within quotes, or that may name one that does.
 */
const LIST = /\$(?:@|\{(?:@|!|[^}]*\[@))/;
/** Matches the beginning of a word that may become `-v` or `-R`. */
const MAY_BE_OPERATOR = /^-?[vR]?[$`]/;
const MAY_SET =
  /=|\b(read|mapfile|readarray|printf|getopts|declare|typeset|local|export|readonly|select|for|let|set|wait|coproc)\b/;
