import { type Command, forEachChild, type ParsedScript, type SyntaxNode, type Word } from 'unbash';
import { arithmeticText, expressionText, RUNS, readsOf } from './arithmetic-text.js';
import { readsAsText, tameOutput } from './tame-commands.js';
import { DECLARES, variableOperands } from './variable-operands.js';

/*
 * Bash evaluates more text than its grammar shows: a number may be the name of a variable whose
 * value is an expression whose subscript is `$(command)`. A text that it evaluates must therefore
 * be known to hold nothing of the kind, and so must each value that may have come into it.
 */

/** Variables of bash to which an assignment is an evaluation. */
export const INTEGER_VARIABLE =
  /^(S?RANDOM|SECONDS|OPTIND|HISTCMD|LINENO|UID|EUID|PPID|BASHPID|BASH_SUBSHELL|EPOCH\w+|SHLVL)$/;
/** Those that hold numbers, whatever a line does. */
const ALWAYS_NUMBER = /^(COLUMNS|LINES|PIPESTATUS|BASH_LINENO|GROUPS|OSTYPE|HOSTTYPE|HOSTNAME)$/;
/** Those into which text of the line, or the names of folders, come by themselves. */
const ALWAYS_OPEN = /^(_|BASH\w*|PWD|OLDPWD|DIRSTACK|FUNCNAME|OPTARG|COPROC)$/;

/** What a line evaluates. */
export interface Evaluations {
  /** Parts that evaluate what is not known to be harmless. */
  unsure: string[];
  /** Whether the line sets any variable, or may. */
  setsVariables: boolean;
}

/**
 * Finds what a text evaluates as numbers, subscripts and names of variables.
 *
 * @param isWhole nothing around the text may have set variables or positional parameters
 */
export function findEvaluations(
  script: ParsedScript,
  source: string,
  isWhole: boolean,
): Evaluations {
  const collector = new Collector(source);
  collector.visit(script);
  return collector.result(isWhole);
}

class Collector {
  /** What the positions of the nodes are in. */
  #source: string;
  readonly #functions = new Set<string>();
  readonly #substitutions = new Map<ParsedScript, string>();
  /** Which texts came into each variable. */
  readonly #values = new Map<string, string[]>();
  readonly #sites: { text: string; source: string }[] = [];
  readonly #arrays = new Set<string>();
  /** Values in the words of `declare`, which are lists where the variable is an array. */
  readonly #declared: { name: string; text: string; source: string }[] = [];
  readonly #calls: { name: string; args: string[] }[] = [];
  /** Any variable may hold anything. */
  #isOpen = false;
  #hasIntegers = false;

  constructor(source: string) {
    this.#source = source;
  }

  visit(root: SyntaxNode): void {
    const functions = (node: SyntaxNode) => {
      if (node.type === 'Function') this.#functions.add(node.name.value);
      forEachChild(node, functions);
    };
    functions(root);
    this.#visit(root);
  }

  result(isWhole: boolean): Evaluations {
    const isDynamic = this.#functions.has('command_not_found_handle');
    for (const { name, args } of this.#calls) {
      if (this.#functions.has(name) || (name === RUNS && this.#functions.size > 0)) {
        for (const arg of args) this.#set('@', arg);
      }
    }
    if (isDynamic) this.#set('@', RUNS);
    const open = this.#openVariables(isWhole);
    const isUnsure = (text: string) => {
      const { runs, names } = readsOf(text);
      return runs || names.some((name) => this.#isOpenName(name, open, isWhole));
    };
    const sites = [
      ...this.#sites,
      ...this.#declared.filter(({ name }) => this.#isOpen || this.#arrays.has(name)),
      ...(this.#hasIntegers
        ? [...this.#values].flatMap(([name, texts]) =>
            texts.map((text) => ({ text, source: name })),
          )
        : []),
    ];
    return {
      unsure: sites.filter(({ text }) => isUnsure(text)).map(({ source }) => source),
      setsVariables: this.#isOpen || this.#values.size > 0,
    };
  }

  #isOpenName(name: string, open: ReadonlySet<string>, isWhole: boolean): boolean {
    if (open.has(name) || ALWAYS_OPEN.test(name)) return !INTEGER_VARIABLE.test(name);
    if (INTEGER_VARIABLE.test(name) || ALWAYS_NUMBER.test(name)) return false;
    return this.#isOpen || (!isWhole && !this.#values.has(name));
  }

  /** The variables that may hold what bash would run: those with such a value, and what they came into. */
  #openVariables(isWhole: boolean): Set<string> {
    const open = new Set<string>();
    const cameInto = new Map<string, string[]>();
    const waiting: string[] = [];
    const add = (name: string) => {
      if (open.has(name)) return;
      open.add(name);
      waiting.push(name);
    };
    for (const [name, texts] of this.#values) {
      const { runs, names } = readsOf(texts.join(' '));
      if (runs || names.some((read) => this.#isOpenName(read, NONE, isWhole))) add(name);
      for (const read of names) {
        const targets = cameInto.get(read);
        if (targets === undefined) cameInto.set(read, [name]);
        else targets.push(name);
      }
    }
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const target of cameInto.get(next) ?? []) add(target);
    }
    return open;
  }

  #set(name: string, text: string): void {
    const texts = this.#values.get(name);
    if (texts === undefined) this.#values.set(name, [text]);
    else texts.push(text);
    if (INTEGER_VARIABLE.test(name)) this.#sites.push({ text, source: name });
  }

  #site(text: string, source: string = text): void {
    this.#sites.push({ text, source });
  }

  readonly #outputOf = (script: ParsedScript | undefined): string => {
    if (script === undefined) return RUNS;
    const known = this.#substitutions.get(script);
    if (known !== undefined) return known;
    const output = tameOutput(script, this.#functions) ?? RUNS;
    this.#substitutions.set(script, output);
    return output;
  };

  #text(word: Word): string {
    return arithmeticText(word, this.#outputOf);
  }

  #visit(node: SyntaxNode): void {
    const outer = this.#source;
    if (node.type === 'Script' && node.source !== undefined) this.#source = node.source;
    this.#look(node);
    forEachChild(node, (child) => this.#visit(child));
    this.#source = outer;
  }

  #look(node: SyntaxNode): void {
    switch (node.type) {
      case 'Assignment': {
        if (node.index !== undefined) {
          this.#arrays.add(node.name);
          this.#site(this.#text(node.index), node.text);
        }
        if (node.value.type === 'Word') this.#set(node.name, this.#text(node.value));
        else {
          this.#arrays.add(node.name);
          for (const element of node.value.elements) {
            const text = this.#text(element);
            this.#set(node.name, text);
            const end = text.indexOf(']=');
            if (text.startsWith('[') && end !== -1) this.#site(text.slice(0, end), node.text);
          }
        }
        break;
      }
      case 'For':
      case 'Select':
        for (const word of node.wordlist ?? []) this.#set(node.name.value, this.#text(word));
        if (node.wordlist === undefined) this.#set(node.name.value, '$@');
        if (node.type === 'Select') this.#set('REPLY', RUNS);
        break;
      case 'ArithmeticExpansion': {
        const inner = node.text.startsWith('$((') ? node.text.slice(3, -2) : node.text.slice(2, -1);
        this.#expression(inner, node);
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
        if (/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
          for (const word of [node.left, node.right]) this.#site(this.#text(word), word.text);
        }
        break;
      case 'TestUnary':
        if (/^-[vR]$/.test(node.operator)) {
          this.#site(this.#text(node.operand), node.operand.text);
        }
        break;
      case 'Coproc':
        this.#set(node.name?.value ?? 'COPROC', '1');
        break;
      case 'Command':
        this.#command(node);
        break;
    }
  }

  #expression(text: string, node: SyntaxNode): void {
    const shown = expressionText(text, node, this.#outputOf);
    this.#site(shown, text);
    for (const name of assignedIn(shown)) this.#set(name, '1');
  }

  #parameter(node: Extract<SyntaxNode, { type: 'ParameterExpansion' }>): void {
    const { index, operation, prefix, parameter } = node;
    const isList = index !== undefined && /^[@*]$/.test(index.text);
    if (index !== undefined && !isList) this.#site(this.#text(index), node.text);
    // What a name that is looked up holds may have a subscript.
    if (prefix === '!' && !isList && operation?.type !== 'Names') {
      this.#site(`$\{${parameter}}`, node.text);
    }
    if (operation?.type === 'Slice') {
      this.#site(this.#text(operation.offset), node.text);
      if (operation.length !== undefined) this.#site(this.#text(operation.length), node.text);
    }
    if (operation?.type === 'Default' && operation.operator.endsWith('=')) {
      this.#set(parameter, this.#text(operation.operand));
    }
  }

  #command(node: Command): void {
    const all = [...(node.name === undefined ? [] : [node.name]), ...node.args].map((word) =>
      word.type === 'Word' ? word : undefined,
    );
    const texts = all.map((word) => (word === undefined ? 'x=1' : this.#text(word)));
    let at = 0;
    while (/^(command|builtin|-[pvV]|--)$/.test(texts[at] ?? '')) at += 1;
    const name = texts[at] ?? '';
    const args = texts.slice(at + 1);
    const words = all.slice(at + 1);
    this.#calls.push({ name: readsAsText(name) ? name : RUNS, args });
    for (const redirect of node.redirects) {
      if (redirect.descriptor?.type === 'FileDescriptorVariable') {
        const { name: into } = redirect.descriptor;
        this.#set(into.replace(/\[.*$/s, ''), '1');
        if (into.includes('[')) this.#site(into);
      }
    }
    const source = [node.name, ...node.args].map((word) => word?.text ?? '').join(' ');
    // Of what braces make, only that it may be any of these is known.
    const isSpread = [node.name, ...node.args].some(
      (word) => word?.type === 'Word' && hasBraces(word),
    );
    if (isSpread && (hasBraces(node.name) || SETS.test(name))) {
      this.#isOpen = this.#hasIntegers = true;
    }
    if (DECLARES.test(name)) {
      this.#declares(node.args.slice(at), source);
      return;
    }
    switch (name) {
      case 'let':
        for (const arg of args) {
          this.#site(arg, source);
          for (const assigned of assignedIn(arg)) this.#set(assigned, '1');
        }
        return;
      case 'eval':
      case 'trap':
      case 'alias':
        // What it sets is not followed.
        if (args.some((arg) => MAY_SET.test(arg) || readsOf(arg).runs)) this.#isOpen = true;
        return;
      case 'set':
        for (const arg of args) this.#set('@', arg);
        return;
      case 'test':
      case '[':
        this.#test(args, words, source);
        return;
    }
    // The format may be `-v` and the name of a variable.
    if (name === 'printf' && /^[$`]/.test(args[0] ?? '')) this.#site(args[0] ?? '', source);
    for (const operand of variableOperands(name, args) ?? []) {
      if (/^[A-Za-z_]\w*$/.test(operand)) {
        if (name === 'unset') continue;
        if (/^(mapfile|readarray|read)$/.test(name)) this.#arrays.add(operand);
        this.#set(operand, /^(wait|getopts)$/.test(name) && operand !== 'OPTARG' ? '1' : RUNS);
        continue;
      }
      this.#site(operand, source);
      if (name === 'unset') continue;
      const [, array] = /^([A-Za-z_]\w*)\[/.exec(operand) ?? [];
      if (array !== undefined) this.#set(array, RUNS);
      else this.#isOpen = true;
    }
  }

  #declares(args: Command['args'], source: string): void {
    let declaresArrays = false;
    for (const arg of args) {
      if (arg.type === 'Assignment') {
        if (declaresArrays) this.#arrays.add(arg.name);
        if (arg.value.type !== 'Word') continue;
        this.#declared.push({ name: arg.name, text: this.#text(arg.value), source });
        continue;
      }
      const text = this.#text(arg);
      if (/^[-+][a-zA-Z]+$/.test(text)) {
        if (/^-.*i/.test(text)) this.#hasIntegers = true;
        if (/^-.*[aA]/.test(text)) declaresArrays = true;
        if (/^-.*n/.test(text)) this.#isOpen = true;
        continue;
      }
      const [, name, subscript, value] =
        /^([A-Za-z_]\w*)(\[[^=]*\])?(?:\+?=(.*))?$/s.exec(text) ?? [];
      if (name === undefined) {
        this.#site(text, source);
        if (!readsAsText(text)) this.#isOpen = this.#hasIntegers = declaresArrays = true;
        continue;
      }
      if (declaresArrays || subscript !== undefined) this.#arrays.add(name);
      if (subscript !== undefined) this.#site(subscript, source);
      if (value === undefined) continue;
      this.#set(name, value);
      this.#declared.push({ name, text: value, source });
    }
  }

  #test(args: readonly string[], words: readonly (Word | undefined)[], source: string): void {
    for (const [at, arg] of args.entries()) {
      const next = args[at + 1];
      if (/^-[vR]$/.test(arg) && next !== undefined) this.#site(next, source);
      // Words that are not quoted may become `-v` and what it takes.
      if (words[at]?.parts?.some(({ type }) => SPLITS.test(type)) === true) this.#site(arg, source);
      // And so may two that are: an operator that only running tells, and its operand.
      if (/^\$|^`/.test(arg) && next !== undefined && /^[$`]|\[/.test(next)) {
        this.#site(next, source);
      }
    }
  }
}

function hasBraces(word: Word | undefined): boolean {
  return word?.parts?.some(({ type }) => type === 'BraceExpansion') === true;
}

const NONE: ReadonlySet<string> = new Set();
const SETS =
  /^(read|mapfile|readarray|printf|getopts|declare|typeset|local|export|readonly|let|wait|unset)$/;
const SPLITS = /^(SimpleExpansion|ParameterExpansion|CommandExpansion)$/;
const MAY_SET =
  /=|\b(read|mapfile|readarray|printf|getopts|declare|typeset|local|export|readonly|select|for|let|set|wait|coproc)\b/;
const ASSIGNED =
  /(?<![\w])([A-Za-z_]\w*)(?:\[[^\]]*\])?\s*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)/g;

/** The variables that an arithmetic expression sets. */
export function assignedIn(expression: string): string[] {
  return [...expression.matchAll(ASSIGNED)].map(([, before, after]) => before ?? after ?? '');
}
