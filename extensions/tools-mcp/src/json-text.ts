import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';

/** The keys and indexes that lead from the root to a value. */
export type JsonPath = readonly (string | number)[];

/** A mistake in a file, and its offset in UTF-16 units. */
export interface JsonProblem {
  offset: number;
  message: string;
}

const MAX_PROBLEMS = 50;

/** Parses a JSON text as far as it is valid. Comments and trailing commas are allowed. */
export class JsonText {
  /** The syntax errors. */
  readonly problems: readonly JsonProblem[];
  /** The parsed value; `undefined` when there is none. */
  readonly value: unknown;
  readonly #text: string;
  readonly #file: string;
  readonly #root: Node | undefined;

  /** @param file the name of the file in messages */
  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
    const errors: ParseError[] = [];
    this.#root = text === '' ? undefined : parseTree(text, errors, { allowTrailingComma: true });
    this.value = this.#root && getNodeValue(this.#root);
    this.problems = errors.slice(0, MAX_PROBLEMS).map(({ offset, error }) => ({
      offset,
      message: `${this.#placeAt(offset)}: ${wordsOf(printParseErrorCode(error))}`,
    }));
  }

  /** Returns the offset of the value at a path, with its key; or of the nearest value around it. */
  offsetOf(path: JsonPath): number {
    const node = this.#nodeOf(path);
    return (node?.parent?.type === 'property' ? node.parent : node)?.offset ?? 0;
  }

  /** Whether the value at a path has a syntax error, so that its meaning is a guess. */
  isBroken(path: JsonPath): boolean {
    const node = this.#nodeOf(path);
    if (node === undefined || this.problems.length === 0) return false;
    const { offset: start, length } = node;
    // A value without an end has no length.
    const end = length < 0 ? Number.POSITIVE_INFINITY : start + length;
    return this.problems.some(({ offset }) => offset >= start && offset <= end);
  }

  #nodeOf(path: JsonPath): Node | undefined {
    const root = this.#root;
    for (let length = path.length; root !== undefined && length > 0; length -= 1) {
      const node = findNodeAtLocation(root, [...path.slice(0, length)]);
      if (node !== undefined) return node;
    }
    return root;
  }

  /** Returns the place of a path as `file:line:column`; only the file when there is no text. */
  placeOf(path: JsonPath): string {
    return this.#root === undefined ? this.#file : this.#placeAt(this.offsetOf(path));
  }

  #placeAt(offset: number): string {
    const before = this.#text.slice(0, offset).split('\n');
    return `${this.#file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
  }
}

/**
 * Turns the code of a syntax error into words: `PropertyNameExpected` into "property name
 * expected".
 */
function wordsOf(code: string): string {
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
