import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  Parser,
  parseDocument,
  Scalar,
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
  /**
   * Whether the text says what is at the path, or that nothing is: no mistake of syntax stands in
   * it or before it, within its top-level key.
   */
  isKnown(path: KeyPath): boolean;
}

/**
 * The parser's frames on its stack. Composing recurses; a text nested tens of thousands deep ends
 * the process (V8 runs out of memory instead of throwing), so it is refused before that.
 */
const MAX_DEPTH = 32;
/** Top-level keys of a text with mistakes that are read one by one. */
const MAX_PARTS = 100;

const ALIAS = 'aliases are not supported; quote text that starts with "*"';

/** A mapping, or the part of one that a top-level key has. */
interface Part {
  start: number;
  root: unknown;
  value: unknown;
  /** Where the first mistake of syntax stands; from there on, what is meant is a guess. */
  brokenAt: number;
}

/**
 * Parses one YAML 1.2 mapping that says what it means: no aliases, anchors, tags, merge keys,
 * repeated keys or further documents. After a mistake of syntax it goes on at the next top-level
 * key, so that one mistake does not hide the others.
 *
 * @param text the source, of at most some hundred KB
 * @returns the data, or every problem found with what of the data there is beside them; `lines`
 * turns offsets into lines and columns
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
  const { parts, problems } = readParts(text);
  const found = parts.filter(({ root }) => isMap(root));
  if (problems.length === 0 && found.length === 0) {
    problems.push({ offset: 0, message: 'the file must be a mapping of keys to values' });
  }
  const [first] = found;
  if (first === undefined) return { lines, problems };
  const isRootKnown = parts.every(
    ({ root, brokenAt }) =>
      brokenAt === Number.POSITIVE_INFINITY || (parts.length > 1 && isMap(root)),
  );
  const placeOf = (path: KeyPath) => {
    const part = found.findLast(({ root }) => isMap(root) && itemOf(root, path[0])) ?? first;
    return { part, ...locate(part.root, path) };
  };
  return {
    lines,
    problems,
    mapping: {
      value: found.length === 1 ? first.value : merged(found),
      offsetOf: (path) => {
        const { part, value } = placeOf(path);
        return part.start + value;
      },
      offsetOfKey: (path) => {
        const { part, key } = placeOf(path);
        return part.start + key;
      },
      isKnown(path) {
        const { part, depth, end } = placeOf(path);
        return depth === 0 ? isRootKnown : end < part.brokenAt;
      },
    },
  };
}

interface ReadPart {
  part: Part;
  problems: Problem[];
}

/** The text as a whole, or its top-level keys one by one where a mistake would hide what follows. */
function readParts(text: string): { parts: Part[]; problems: Problem[] } {
  const whole = readPart(text, 0);
  const starts = whole.part.brokenAt === Number.POSITIVE_INFINITY ? [] : startsOfKeys(text);
  if (starts.length < 2 || starts.length > MAX_PARTS) {
    return { parts: [whole.part], problems: whole.problems };
  }
  const read = starts.map((start, index) => {
    const own = text.slice(start, starts[index + 1]);
    return readPart(own, start, own.trimEnd().length);
  });
  const parts = read.map(({ part }) => part);
  const problems = read.flatMap((one) => one.problems);
  reportRepeatedKeys(parts, problems);
  // What is wrong between the keys shows in the whole alone.
  const isFound = parts.some(({ brokenAt }) => brokenAt !== Number.POSITIVE_INFINITY);
  return { parts, problems: isFound ? problems : [...whole.problems, ...problems] };
}

function readPart(text: string, start: number, endOfText = text.length): ReadPart {
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
    // What does not end is told at the end of its own lines, not where the next key begins.
    offset: start + Math.min(error.pos[0], endOfText),
    message:
      error.code === 'MULTIPLE_DOCS' ? 'a second document; keep one' : firstLine(error.message),
  }));
  const broken = document.errors.filter(({ code }) => code !== 'MULTIPLE_DOCS');
  visit(document, {
    // Such a key is among the errors, and has no place in an object.
    Pair: (_, { key }) => (isScalar(key) || isAlias(key) ? undefined : visit.REMOVE),
    Node(_, node) {
      const offset = start + (offsetOfNode(node) ?? 0);
      if (isAlias(node)) {
        problems.push({ offset, message: ALIAS });
        const nothing = new Scalar(null);
        if (node.range) nothing.range = node.range;
        return nothing;
      }
      if (node.anchor) problems.push({ offset, message: 'anchors are not supported' });
      if (node.tag) problems.push({ offset, message: 'tags are not supported' });
      if (isMap(node)) reportRepeatedKeys([{ start, root: node }], problems);
      return undefined;
    },
  });
  const root = document.contents;
  return {
    part: {
      start,
      root,
      value: isMap(root) ? document.toJS({ maxAliasCount: 0 }) : undefined,
      brokenAt: Math.min(...broken.map(({ pos }) => pos[0]), Number.POSITIVE_INFINITY),
    },
    problems,
  };
}

/** Where lines begin that look like a key of the mapping itself; the first has what is before it. */
function startsOfKeys(text: string): number[] {
  const starts: number[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    const isKey = /^[^\s#\-?:,[\]{}&*!|>%@`]/u.test(line);
    if (isKey && (line.includes(': ') || line.trimEnd().endsWith(':'))) starts.push(at);
    at += line.length + 1;
  }
  if (starts.length > 0) starts[0] = 0;
  return starts;
}

/** The values of the parts in one object; of a key that is given twice, the last. */
function merged(parts: readonly Part[]): unknown {
  // `fromEntries` makes a key of its own of `__proto__`, too.
  return Object.fromEntries(parts.flatMap(({ value }) => Object.entries(Object(value))));
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

function reportRepeatedKeys(
  maps: readonly { start: number; root: unknown }[],
  problems: Problem[],
): void {
  const seen = new Set<unknown>();
  for (const { start, root } of maps) {
    if (!isMap(root)) continue;
    for (const { key } of root.items) {
      if (!isScalar(key)) continue;
      if (seen.has(key.value)) {
        const message = `key ${quote(String(key.value))} is given twice`;
        problems.push({ offset: start + (offsetOfNode(key) ?? 0), message });
      }
      seen.add(key.value);
    }
  }
}

/** Where a path leads: its key, its value and their end, of the nearest existing parent if there is none. */
function locate(
  root: unknown,
  path: KeyPath,
): { key: number; value: number; end: number; depth: number } {
  let node: unknown = root;
  let found = { key: 0, value: offsetOfNode(root) ?? 0, end: endOf(root), depth: 0 };
  for (const part of path) {
    const item = isMap(node) ? itemOf(node, part) : undefined;
    const child = isSeq(node) ? node.items[Number(part)] : item?.value;
    if (item === undefined && child === undefined) return { ...found, end: endOf(node) };
    const key = offsetOfNode(item?.key) ?? offsetOfNode(child) ?? found.value;
    const value = offsetOfNode(child) ?? key;
    // What begins before a mistake is a list or a mapping, whatever else is in it.
    const end = isMap(child) || isSeq(child) ? value : endOf(child ?? item?.key);
    found = { key, value, end, depth: found.depth + 1 };
    node = child;
  }
  return found;
}

/** The pairs of each mapping by key, so that a file of very many keys is read in linear time. */
const pairsOf = new WeakMap<YAMLMap, Map<unknown, Pair>>();

/** Of a key that is given twice, the last. Only for a mapping that does not change any more. */
function itemOf(map: YAMLMap, key: PropertyKey | undefined): Pair | undefined {
  let pairs = pairsOf.get(map);
  if (pairs === undefined) {
    pairs = new Map(
      map.items.flatMap((pair) => (isScalar(pair.key) ? [[pair.key.value, pair] as const] : [])),
    );
    pairsOf.set(map, pairs);
  }
  return pairs.get(key);
}

function endOf(node: unknown): number {
  return isNode(node) ? (node.range?.[1] ?? 0) : 0;
}

function offsetOfNode(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message;
}
