import { type Reads, readsOf } from './arithmetic-text.js';
import {
  assignedIn,
  hasCount,
  isOpenConversion,
  joinsSigns,
  namesAmong,
  type Operand,
  operandOf,
  pastedInto,
} from './assigned-variables.js';
import { UNKNOWN } from './marked-text.js';

/** Matches variables of bash whose assignment evaluates the value. */
export const INTEGER_VARIABLE =
  /^(S?RANDOM|SECONDS|OPTIND|HISTCMD|LINENO|UID|EUID|PPID|BASHPID|BASH_SUBSHELL|EPOCH\w+|SHLVL)$/;
/** Matches variables that have numbers or plain names as long as the line does not set them. */
const HARMLESS_VARIABLE =
  /^(COLUMNS|LINES|PIPESTATUS|BASH_LINENO|GROUPS|OSTYPE|HOSTTYPE|HOSTNAME)$/;
/** Matches variables that bash itself fills with text of the line, or with names of folders. */
const ALWAYS_OPEN = /^(_|BASH\w*|PWD|OLDPWD|DIRSTACK|FUNCNAME|OPTARG|COPROC)$/;

/** A part of a line that evaluates a text. */
interface Site {
  text: string;
  /** The part as it was written, for people. */
  source: string;
}

/** A format of `printf` and what it formats. `%n` sets the variable that an operand names. */
interface Format extends Site {
  operands: readonly string[];
}

/** Tracks which texts a line puts into variables, and which texts it evaluates. */
export class ValueFlow {
  /** The texts of each variable, by its name. `@` stands for all positional parameters. */
  readonly #values = new Map<string, string[]>();
  readonly #sites: Site[] = [];
  readonly #formats: Format[] = [];
  readonly #arrays = new Set<string>();
  readonly #declared: (Site & { name: string })[] = [];
  /** Whether any variable may have any value. */
  #isOpen = false;
  #hasIntegers = false;

  /** Records that a text comes into a variable. */
  set(name: string, text: string): void {
    const texts = this.#values.get(name);
    if (texts === undefined) this.#values.set(name, [text]);
    else texts.push(text);
    if (INTEGER_VARIABLE.test(name)) this.evaluate(text, name);
  }

  /** Records that a text is evaluated. */
  evaluate(text: string, source: string = text): void {
    this.#sites.push({ text, source });
  }

  /**
   * Records that a word of `declare` sets a variable. If the variable is an array, the text is a
   * list.
   */
  declare(name: string, text: string, source: string): void {
    this.#declared.push({ name, text, source });
  }

  addFormat(format: Format): void {
    this.#formats.push(format);
  }

  addArray(name: string): void {
    this.#arrays.add(name);
  }

  /** Records that some variable evaluates every value as a number. */
  addInteger(): void {
    this.#hasIntegers = true;
  }

  /** Records that the line sets variables that are known only at run time. */
  openAll(): void {
    this.#isOpen = true;
  }

  get setsVariables(): boolean {
    return this.#isOpen || this.#values.size > 0;
  }

  /**
   * Returns the parts that evaluate a text which is not known to be harmless.
   *
   * @param isWhole whether nothing around the line can have set variables
   */
  unsure(isWhole: boolean): string[] {
    const open = this.#openVariables(isWhole);
    return this.#evaluated()
      .filter(({ text }) => {
        const { runs, names } = readsOf(text);
        return runs || names.some((name) => this.#isOpenName(name, open, isWhole));
      })
      .map(({ source }) => source);
  }

  /**
   * Returns the variables that the evaluated texts set, those that are set by the values of the
   * variables in them, and those that `printf` sets. The name is `UNKNOWN` for a variable that is
   * known only at run time.
   *
   * @param isWhole whether nothing around the line can have set variables
   */
  assigned(isWhole: boolean): { name: string; source: string }[] {
    const found: { name: string; source: string }[] = [];
    const followed = new Set<string>();
    const operands = new Map<string, Operand>();
    const operandIn = (name: string): Operand => {
      const operand = operands.get(name) ?? operandOf(this.#valuesOf(name));
      operands.set(name, operand);
      return operand;
    };
    const texts = this.#evaluated();
    // What is added meanwhile is visited as well.
    for (const { text, source } of texts) {
      const names = assignedIn(text);
      const pasted = new Set(pastedInto(text).map(operandIn));
      if (pasted.has('operator') || (pasted.has('signed') && joinsSigns(text))) names.push(UNKNOWN);
      found.push(...names.map((name) => ({ name, source })));
      for (const name of readsOf(text).names) {
        if (followed.has(name)) continue;
        followed.add(name);
        texts.push(...this.#valuesOf(name).map((value) => ({ text: value, source })));
      }
    }
    return [...found, ...this.#assignedByFormats(isWhole)];
  }

  #assignedByFormats(isWhole: boolean): { name: string; source: string }[] {
    if (this.#formats.length === 0) return [];
    const bringing = this.#variablesWith((text) => /[%`]/.test(text));
    const ending = this.#variablesWith((text) => /[%n`]/.test(text));
    return this.#formats.flatMap(({ text, operands, source }) => {
      const may = isOpenConversion(text) ? ending : bringing;
      const counts =
        hasCount(text) || pastedInto(text).some((name) => !isWhole || may.has(keyOf(name)));
      return counts ? namesAmong(operands).map((name) => ({ name, source })) : [];
    });
  }

  #valuesOf(name: string): readonly string[] {
    return this.#values.get(keyOf(name)) ?? [];
  }

  /** Returns all texts that the line evaluates. */
  #evaluated(): Site[] {
    const sites: Site[] = [
      ...this.#sites,
      ...this.#declared.filter(({ name }) => this.#isOpen || this.#arrays.has(name)),
    ];
    if (this.#hasIntegers) {
      for (const [source, texts] of this.#values) {
        sites.push(...texts.map((text) => ({ text, source })));
      }
    }
    return sites;
  }

  #isOpenName(name: string, open: ReadonlySet<string>, isWhole: boolean): boolean {
    if (INTEGER_VARIABLE.test(name)) return false;
    if (open.has(name) || ALWAYS_OPEN.test(name)) return true;
    if (HARMLESS_VARIABLE.test(name)) return false;
    // What the line sets may be set after it is read, or not at all.
    return this.#isOpen || !isWhole;
  }

  /** Returns the variables with text that bash might run, and those that get their values. */
  #openVariables(isWhole: boolean): ReadonlySet<string> {
    return this.#variablesWith(
      (_, { runs, names }) => runs || names.some((read) => this.#isOpenName(read, NONE, isWhole)),
    );
  }

  /** Returns the variables with such a text, and those that get their values. */
  #variablesWith(isSuch: (text: string, reads: Reads) => boolean): ReadonlySet<string> {
    const found = new Set<string>();
    const cameInto = new Map<string, string[]>();
    for (const [name, texts] of this.#values) {
      const text = texts.join(' ');
      const reads = readsOf(text);
      if (isSuch(text, reads)) found.add(name);
      for (const read of reads.names) {
        const targets = cameInto.get(read);
        if (targets === undefined) cameInto.set(read, [name]);
        else targets.push(name);
      }
    }
    // What is added meanwhile is visited as well.
    for (const name of found) for (const target of cameInto.get(name) ?? []) found.add(target);
    return found;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** The positional parameters share their values. */
function keyOf(name: string): string {
  return /^(\d+|[@*])$/.test(name) ? '@' : name;
}
