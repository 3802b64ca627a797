import { forEachChild, type ParsedScript, type SyntaxNode, type Word } from 'unbash';
import { appended, arithmeticText, expressionText, RUNS } from './arithmetic-text.js';
import { CommandEvaluations } from './command-evaluations.js';
import { tameOutput } from './tame-commands.js';
import { ValueFlow } from './value-flow.js';

/*
 * Bash evaluates more text than its grammar shows. The attack: where a number is expected, the text names a
 * variable, its value is an expression, and the subscript of that is `$(command)`. So an evaluated text is
 * only safe when it is known to hold no such thing, and the same is known of each value in it.
 */

/** The texts that a line evaluates. */
export interface Evaluations {
  /** The parts that evaluate a text which is not known to be harmless. */
  unsure: string[];
  /** The variables that the line sets by numbers and formats. The name may be `UNKNOWN`. */
  assigned: readonly { name: string; source: string }[];
  /** Whether the line sets a variable, or may set one. */
  setsVariables: boolean;
}

/**
 * Finds the texts that a line evaluates as numbers, subscripts or names of variables.
 *
 * @param isWhole whether nothing around the text can have set variables or positional parameters
 */
export function findEvaluations(
  script: ParsedScript,
  source: string,
  isWhole: boolean,
): Evaluations {
  const flow = new ValueFlow();
  new Collector(source, flow, functionsIn(script)).collect(script);
  const assigned = flow.assigned(isWhole);
  return {
    unsure: flow.unsure(isWhole),
    assigned,
    setsVariables: flow.setsVariables || assigned.length > 0,
  };
}

function functionsIn(script: ParsedScript): Set<string> {
  const functions = new Set<string>();
  const look = (node: SyntaxNode) => {
    if (node.type === 'Function') functions.add(node.name.value);
    forEachChild(node, look);
  };
  look(script);
  return functions;
}

class Collector {
  /** The text that the positions of the nodes refer to. */
  #source: string;
  readonly #flow: ValueFlow;
  readonly #functions: ReadonlySet<string>;
  readonly #commands: CommandEvaluations;
  readonly #outputs = new Map<ParsedScript, string>();

  constructor(source: string, flow: ValueFlow, functions: ReadonlySet<string>) {
    this.#source = source;
    this.#flow = flow;
    this.#functions = functions;
    this.#commands = new CommandEvaluations(flow, (word) => this.#text(word));
  }

  collect(script: ParsedScript): void {
    this.#visit(script);
    this.#commands.callFunctions(this.#functions);
  }

  #text(word: Word): string {
    return arithmeticText(word, this.#outputOf);
  }

  readonly #outputOf = (script: ParsedScript | undefined): string => {
    if (script === undefined) return RUNS;
    const known = this.#outputs.get(script);
    if (known !== undefined) return known;
    const output = tameOutput(script, this.#functions) ?? RUNS;
    this.#outputs.set(script, output);
    return output;
  };

  #visit(node: SyntaxNode): void {
    const outer = this.#source;
    if (node.type === 'Script' && node.source !== undefined) this.#source = node.source;
    this.#look(node);
    forEachChild(node, (child) => this.#visit(child));
    this.#source = outer;
  }

  #look(node: SyntaxNode): void {
    const flow = this.#flow;
    switch (node.type) {
      case 'Assignment':
        this.#assignment(node);
        break;
      case 'For':
      case 'Select':
        for (const word of node.wordlist ?? []) flow.set(node.name.value, this.#text(word));
        if (node.wordlist === undefined) flow.set(node.name.value, '$@');
        if (node.type === 'Select') flow.set('REPLY', RUNS);
        break;
      case 'ArithmeticExpansion': {
        const [begin, end] = node.text.startsWith('$((') ? [3, -2] : [2, -1];
        this.#expression(node.text.slice(begin, end), node);
        break;
      }
      case 'ArithmeticCommand':
        this.#expression(node.body, node);
        break;
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update]) {
          if (part !== undefined) this.#expression(this.#source.slice(part.pos, part.end), part);
        }
        break;
      case 'ParameterExpansion':
        this.#parameter(node);
        break;
      case 'TestBinary':
        if (!/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)) break;
        for (const word of [node.left, node.right]) flow.evaluate(this.#text(word), word.text);
        break;
      case 'TestUnary':
        if (!/^-[vR]$/.test(node.operator)) break;
        flow.evaluate(this.#text(node.operand), node.operand.text);
        break;
      case 'Coproc':
        flow.set(node.name?.value ?? 'COPROC', '1');
        break;
      case 'Command':
        this.#commands.add(node);
        break;
    }
  }

  #assignment(node: Extract<SyntaxNode, { type: 'Assignment' }>): void {
    const { name, index, value, text, append } = node;
    const flow = this.#flow;
    if (index !== undefined) {
      flow.addArray(name);
      flow.evaluate(this.#text(index), text);
    }
    if (value.type === 'Word') {
      flow.set(name, append === true ? appended(name, this.#text(value)) : this.#text(value));
      return;
    }
    flow.addArray(name);
    for (const element of value.elements) {
      const given = this.#text(element);
      flow.set(name, given);
      const end = given.lastIndexOf(']=');
      if (given.startsWith('[') && end !== -1) flow.evaluate(given.slice(0, end), text);
    }
  }

  #expression(text: string, node: SyntaxNode): void {
    const shown = expressionText(text, node, this.#outputOf);
    this.#flow.evaluate(shown, text);
  }

  #parameter(node: Extract<SyntaxNode, { type: 'ParameterExpansion' }>): void {
    const { index, operation, prefix, parameter, text } = node;
    const evaluate = (word: Word | undefined) => {
      if (word !== undefined) this.#flow.evaluate(this.#text(word), text);
    };
    const isList = index !== undefined && /^[@*]$/.test(index.text);
    if (!isList) evaluate(index);
    // The value behind an indirect name may have a subscript.
    if (prefix === '!' && !isList && operation?.type !== 'Names') {
      this.#flow.evaluate(`$\{${parameter}}`, text);
    }
    if (operation?.type === 'Slice') {
      evaluate(operation.offset);
      evaluate(operation.length);
    }
    if (operation?.type === 'Default' && operation.operator.endsWith('=')) {
      this.#flow.set(parameter, this.#text(operation.operand));
    }
  }
}
