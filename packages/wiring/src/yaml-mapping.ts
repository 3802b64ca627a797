import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';

/** Keys and indexes that lead from the root to a value. */
export type KeyPath = readonly PropertyKey[];

/** Something wrong in a text, at an offset in UTF-16 units. */
export interface Problem {
  offset: number;
  message: string;
}

/** A YAML text as plain data, with the place of each part of it. */
export interface YamlMapping {
  value: unknown;
  /** Where the value at the path stands; the nearest existing parent's place if there is none. */
  offsetOf(path: KeyPath): number;
  /** Where the key itself stands, for a path that ends in a mapping's key. */
  offsetOfKey(path: KeyPath): number;
}

/**
 * The parser's frames on its stack. Composing recurses; a text nested tens of thousands deep ends
 * the process (V8 runs out of memory instead of throwing), so it is refused before that.
 */
const MAX_DEPTH = 32;

const ALIAS = 'aliases are not supported; quote text that starts with "*"';

/**
 * Parses one YAML 1.2 mapping that says what it means: no aliases, anchors, tags, merge keys,
 * repeated keys or further documents.
 *
 * @param text the source, of at most some hundred KB
 * @returns the data, or every problem found; `lines` turns offsets into lines and columns
 */
export function parseYamlMapping(text: string): {
  lines: LineCounter;
  problems: Problem[];
  mapping?: YamlMapping;
} {
  const lines = new LineCounter();
  const tooDeepAt = offsetOfDeepNesting(text, lines);
  if (tooDeepAt !== undefined) {
    return { lines, problems: [{ offset: tooDeepAt, message: 'nested too deeply' }] };
  }
  const document = parseDocument(text, {
    // A pretty error quotes the file, which is not ours to repeat.
    prettyErrors: false,
    // Given one by one, since a `%YAML 1.1` directive changes the defaults.
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    // Quadratic in the library; done below.
    uniqueKeys: false,
  });
  const problems: Problem[] = [...document.errors, ...document.warnings].map((error) => ({
    offset: error.pos[0],
    message:
      error.code === 'MULTIPLE_DOCS' ? 'a second document; keep one' : firstLine(error.message),
  }));
  visit(document, {
    Node(_, node) {
      const offset = offsetOfNode(node) ?? 0;
      if (isAlias(node)) problems.push({ offset, message: ALIAS });
      else if (node.anchor) problems.push({ offset, message: 'anchors are not supported' });
      if (node.tag) problems.push({ offset, message: 'tags are not supported' });
      if (isMap(node)) reportRepeatedKeys(node, problems);
    },
  });
  const root = document.contents;
  if (problems.length === 0 && !isMap(root)) {
    problems.push({ offset: 0, message: 'the file must be a mapping of keys to values' });
  }
  if (problems.length > 0) return { lines, problems };
  return {
    lines,
    problems,
    mapping: {
      value: document.toJS({ maxAliasCount: 0 }),
      offsetOf: (path) => locate(root, path).value,
      offsetOfKey: (path) => locate(root, path).key,
    },
  };
}

/** A key or value from the file, safe to print on one line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** Reads the text without recursion, noting where its lines start. */
function offsetOfDeepNesting(text: string, lines: LineCounter): number | undefined {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme)) {
      // Driven for its stack only.
    }
    if (parser.stack.length > MAX_DEPTH) return parser.offset;
  }
  return undefined;
}

function reportRepeatedKeys(map: YAMLMap, problems: Problem[]): void {
  const seen = new Set<unknown>();
  for (const { key } of map.items) {
    if (!isScalar(key)) continue;
    if (seen.has(key.value)) {
      const message = `key ${quote(String(key.value))} is given twice`;
      problems.push({ offset: offsetOfNode(key) ?? 0, message });
    }
    seen.add(key.value);
  }
}

function locate(root: unknown, path: KeyPath): { key: number; value: number } {
  let node: unknown = root;
  let found = { key: 0, value: offsetOfNode(root) ?? 0 };
  for (const part of path) {
    const item = isMap(node)
      ? node.items.find((pair) => isScalar(pair.key) && pair.key.value === part)
      : undefined;
    const child = isSeq(node) ? node.items[Number(part)] : item?.value;
    const key = offsetOfNode(item?.key) ?? offsetOfNode(child) ?? found.value;
    found = { key, value: offsetOfNode(child) ?? key };
    node = child;
  }
  return found;
}

function offsetOfNode(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message;
}
