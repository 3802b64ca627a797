import { readsOf } from './arithmetic-text.js';

/** Variables of bash to which an assignment is an evaluation. */
export const INTEGER_VARIABLE =
  /^(S?RANDOM|SECONDS|OPTIND|HISTCMD|LINENO|UID|EUID|PPID|BASHPID|BASH_SUBSHELL|EPOCH\w+|SHLVL)$/;
/** Those that hold numbers, or plain names, as long as the line does not set them. */
const HARMLESS_VARIABLE =
  /^(COLUMNS|LINES|PIPESTATUS|BASH_LINENO|GROUPS|OSTYPE|HOSTTYPE|HOSTNAME)$/;
/** Those into which text of the line, or the names of folders, come by themselves. */
const ALWAYS_OPEN = /^(_|BASH\w*|PWD|OLDPWD|DIRSTACK|FUNCNAME|OPTARG|COPROC)$/;

/** A part of a line that evaluates a text. */
interface Site {
  text: string;
  /** As it was written, for people. */
  source: string;
}

/** Which texts come into which variables of a line, and which of them it evaluates. */
export class ValueFlow {
  /** By name; `@` for all positional parameters. */
  readonly #values = new Map<string, string[]>();
  readonly #sites: Site[] = [];
  readonly #arrays = new Set<string>();
  readonly #declared: (Site & { name: string })[] = [];
  /** Any variable may hold anything. */
  #isOpen = false;
  #hasIntegers = false;

  /** A text comes into a variable. */
  set(name: string, text: string): void {
    const texts = this.#values.get(name);
    if (texts === undefined) this.#values.set(name, [text]);
    else texts.push(text);
    if (INTEGER_VARIABLE.test(name)) this.evaluate(text, name);
  }

  /** A text is evaluated. */
  evaluate(text: string, source: string = text): void {
    this.#sites.push({ text, source });
  }

  /** A word of `declare` sets a variable: where that is an array, the text is a list. */
  declare(name: string, text: string, source: string): void {
    this.#declared.push({ name, text, source });
  }

  addArray(name: string): void {
    this.#arrays.add(name);
  }

  /** Some variable takes all that is set to it for a number. */
  addInteger(): void {
    this.#hasIntegers = true;
  }

  /** What is set is known only when the line runs. */
  openAll(): void {
    this.#isOpen = true;
  }

  get setsVariables(): boolean {
    return this.#isOpen || this.#values.size > 0;
  }

  /**
   * The parts that evaluate what is not known to be harmless.
   *
   * @param isWhole nothing around the line may have set variables
   */
  unsure(isWhole: boolean): string[] {
    const open = this.#openVariables(isWhole);
    const sites = [
      ...this.#sites,
      ...this.#declared.filter(({ name }) => this.#isOpen || this.#arrays.has(name)),
    ];
    if (this.#hasIntegers) {
      for (const [source, texts] of this.#values) {
        sites.push(...texts.map((text) => ({ text, source })));
      }
    }
    return sites
      .filter(({ text }) => {
        const { runs, names } = readsOf(text);
        return runs || names.some((name) => this.#isOpenName(name, open, isWhole));
      })
      .map(({ source }) => source);
  }

  #isOpenName(name: string, open: ReadonlySet<string>, isWhole: boolean): boolean {
    if (INTEGER_VARIABLE.test(name)) return false;
    if (open.has(name) || ALWAYS_OPEN.test(name)) return true;
    if (HARMLESS_VARIABLE.test(name)) return false;
    // What the line sets may be set after it is read, or not at all.
    return this.#isOpen || !isWhole;
  }

  /** The variables that may hold what bash would run, and those that such came into. */
  #openVariables(isWhole: boolean): Set<string> {
    const open = new Set<string>();
    const cameInto = new Map<string, string[]>();
    for (const [name, texts] of this.#values) {
      const { runs, names } = readsOf(texts.join(' '));
      if (runs || names.some((read) => this.#isOpenName(read, NONE, isWhole))) open.add(name);
      for (const read of names) {
        const targets = cameInto.get(read);
        if (targets === undefined) cameInto.set(read, [name]);
        else targets.push(name);
      }
    }
    // What is added meanwhile is visited as well.
    for (const name of open) for (const target of cameInto.get(name) ?? []) open.add(target);
    return open;
  }
}

const NONE: ReadonlySet<string> = new Set();
