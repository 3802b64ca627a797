import type { LineCounter, Pair, YAMLMap } from 'yaml';
import { yaml } from './libraries.js';

/** Keys and indexes that lead from the root to a value. */
export type KeyPath = readonly PropertyKey[];

/** A problem in a text, at an offset in UTF-16 units. */
export interface Problem {
  offset: number;
  message: string;
  /** The text is not valid YAML here, so other problems may follow from it. */
  isSyntax?: boolean;
}

/**
 * Sorts problems for a person: mistakes of syntax first, since others may follow from them, then by
 * place.
 */
export function byImportance(a: Problem, b: Problem): number {
  return Number(b.isSyntax === true) - Number(a.isSyntax === true) || a.offset - b.offset;
}

/** A YAML text as plain data, with the place of each part. */
export interface YamlMapping {
  value: unknown;
  /** The place of the value at a path. If there is no value, that of the nearest parent. */
  offsetOf(path: KeyPath): number;
  /** The place of the key itself, for a path that ends in a key of a mapping. */
  offsetOfKey(path: KeyPath): number;
  /**
   * Whether it is certain what is at the path, or that nothing is. It is if there is no syntax
   * error in it or before it within its top-level key.
   */
  isKnown(path: KeyPath): boolean;
}

/**
 * The most frames on the parser's stack. The next step is recursive. With a text that nests tens of
 * thousands of levels, V8 would run out of memory and end the process instead of throwing.
 */
const MAX_DEPTH = 32;
/** The most top-level keys of an invalid text that are parsed one by one. */
const MAX_PARTS = 100;

const ALIAS = 'aliases are not supported; quote text that starts with "*"';

/** A mapping, or the part of it with one top-level key. */
interface Part {
  start: number;
  root: unknown;
  value: unknown;
  /** The place of the first syntax error. What comes after it may be misunderstood. */
  brokenAt: number;
}

/**
 * Parses one YAML 1.2 mapping without aliases, anchors, tags, merge keys, repeated keys or further
 * documents. After a syntax error it continues at the next top-level key, so that one mistake does
 * not hide the others.
 *
 * @param text the source, of at most some hundred KB
 * @returns the data, or every problem together with the data that could be read; `lines` turns
 * offsets into lines and columns
 */
export function parseYamlMapping(text: string): {
  lines: LineCounter;
  problems: Problem[];
  mapping?: YamlMapping;
} {
  const { isMap, LineCounter } = yaml();
  const lines = new LineCounter();
  const tooDeepAt = offsetOfDeepNesting(text, lines);
  if (tooDeepAt !== undefined) {
    return { lines, problems: [{ offset: tooDeepAt, message: 'nested too deeply' }] };
  }
  const { parts, problems } = readParts(text);
  const found = parts.filter(({ root }) => isMap(root));
  if (problems.length === 0 && found.length === 0) {
    problems.push({
      offset: 0,
      message: 'the file must be a mapping of keys to values; write lines such as "key: value"',
    });
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
        if (depth === 0) return isRootKnown;
        // A value that ends right where the syntax breaks may be what is broken.
        const { start, brokenAt } = part;
        if (brokenAt === Number.POSITIVE_INFINITY) return true;
        return end < brokenAt && /\S/u.test(text.slice(start + end, start + brokenAt));
      },
    },
  };
}

interface ReadPart {
  part: Part;
  problems: Problem[];
}

/**
 * Parses the whole text. If a syntax error would hide what follows it, parses the top-level keys
 * one by one.
 */
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
  // A problem between the keys is found only in the text as a whole.
  const isFound = parts.some(({ brokenAt }) => brokenAt !== Number.POSITIVE_INFINITY);
  return { parts, problems: isFound ? problems : [...whole.problems, ...problems] };
}

function readPart(text: string, start: number, endOfText = text.length): ReadPart {
  const { isAlias, isMap, isScalar, parseDocument, Scalar, visit } = yaml();
  const document = parseDocument(text, {
    // A pretty error would quote the file, which may contain secrets.
    prettyErrors: false,
    // Given one by one, since a `%YAML 1.1` directive changes the defaults.
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    // The library's check takes quadratic time. The check is below.
    uniqueKeys: false,
  });
  const broken = document.errors.filter(({ code }) => code !== 'MULTIPLE_DOCS');
  const mistakes: ReadonlySet<unknown> = new Set(broken);
  const problems: Problem[] = [...document.errors, ...document.warnings].map((error) => {
    const isSyntax = mistakes.has(error);
    const said = isSyntax
      ? `not valid YAML: ${firstLine(error.message)}`
      : firstLine(error.message);
    return {
      // If something has no end, the error is placed at the end of its own lines, not at the next
      // key.
      offset: start + Math.min(error.pos[0], endOfText),
      message: error.code === 'MULTIPLE_DOCS' ? 'a second document; keep one' : said,
      isSyntax,
    };
  });
  visit(document, {
    // Such a key is already an error, and can't be a key of an object.
    Pair: (_, { key }) => (isScalar(key) || isAlias(key) ? undefined : visit.REMOVE),
    Node(_, node) {
      const offset = start + (offsetOfNode(node) ?? 0);
      if (isAlias(node)) {
        problems.push({ offset, message: ALIAS });
        const nothing = new Scalar(null);
        if (node.range) nothing.range = node.range;
        return nothing;
      }
      if (node.anchor)
        problems.push({
          offset,
          message: 'anchors are not supported; write the value out where it is used',
        });
      if (node.tag) problems.push({ offset, message: 'tags are not supported; leave it out' });
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

/**
 * Where lines begin that look like a top-level key. The first part also contains what is before it.
 */
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

/** The values of the parts in one object. If a key stands twice, the last one counts. */
function merged(parts: readonly Part[]): unknown {
  // `fromEntries` also creates an own key for `__proto__`.
  return Object.fromEntries(parts.flatMap(({ value }) => Object.entries(Object(value))));
}

/** A key or a value of the file, safe to print on one line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** Parses the text without recursion, and records where its lines begin. */
function offsetOfDeepNesting(text: string, lines: LineCounter): number | undefined {
  const { Lexer, Parser } = yaml();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme)) {
      // The parser is only run for its stack.
    }
    if (parser.stack.length > MAX_DEPTH) return parser.offset;
  }
  return undefined;
}

function reportRepeatedKeys(
  maps: readonly { start: number; root: unknown }[],
  problems: Problem[],
): void {
  const { isMap, isScalar } = yaml();
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

/**
 * The place of a path: its key, its value and its end. If it does not exist, that of the nearest
 * parent.
 */
function locate(
  root: unknown,
  path: KeyPath,
): { key: number; value: number; end: number; depth: number } {
  const { isMap, isSeq } = yaml();
  let node: unknown = root;
  let found = { key: 0, value: offsetOfNode(root) ?? 0, end: endOf(root), depth: 0 };
  for (const part of path) {
    const item = isMap(node) ? itemOf(node, part) : undefined;
    const child = isSeq(node) ? node.items[Number(part)] : item?.value;
    if (item === undefined && child === undefined) return { ...found, end: endOf(node) };
    const key = offsetOfNode(item?.key) ?? offsetOfNode(child) ?? found.value;
    const value = offsetOfNode(child) ?? key;
    // A list or mapping that begins before a mistake is certain, whatever it contains.
    const end = isMap(child) || isSeq(child) ? value : endOf(child ?? item?.key);
    found = { key, value, end, depth: found.depth + 1 };
    node = child;
  }
  return found;
}

/** The pairs of each mapping by key, so that a file with very many keys is read in linear time. */
const pairsOf = new WeakMap<YAMLMap, Map<unknown, Pair>>();

/** If a key stands twice, the last one counts. Only for a mapping that no longer changes. */
function itemOf(map: YAMLMap, key: PropertyKey | undefined): Pair | undefined {
  const { isScalar } = yaml();
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
  return yaml().isNode(node) ? (node.range?.[1] ?? 0) : 0;
}

function offsetOfNode(node: unknown): number | undefined {
  return yaml().isNode(node) ? node.range?.[0] : undefined;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message;
}
