import { isDeepStrictEqual } from 'node:util';
import { isMap, isNode, isPair, isScalar, isSeq, type Node, parseDocument } from 'yaml';

/** A key with its value, or an item of a list: whole lines, with the comments above them. */
interface Part {
  name: string;
  value: unknown;
  start: number;
  end: number;
}

/** The lines of a mapping or a list with one entry per line. */
interface Block {
  text: string;
  column: number;
  start: number;
  end: number;
  parts: readonly Part[];
}

/**
 * The text `after`, but with the lines of `before` for every entry that is the same in both. A
 * library writes its own spaces, brackets and indents.
 */
export function keepLines(before: string, after: string): string {
  const [old, fresh] = [wholeBlock(before), wholeBlock(after)];
  return old === undefined || fresh === undefined ? after : merged(old, fresh);
}

function wholeBlock(text: string): Block | undefined {
  const { contents } = parseDocument(text, { schema: 'core', merge: false });
  return blockOf(text, { start: 0, end: text.length, value: contents });
}

function merged(old: Block, fresh: Block): string {
  const lineEnd = old.text.includes('\r\n') ? '\r\n' : '\n';
  const left = [...old.parts];
  const lines = [old.text.slice(old.start, left[0]?.start)];
  const foreign = (part: Part) =>
    indented(fresh.text.slice(part.start, part.end), old.column - fresh.column).replace(
      /\r?\n/g,
      lineEnd,
    );
  for (const part of fresh.parts) {
    const at = left.findIndex(({ name }) => name === part.name);
    const [own] = at === -1 ? [] : left.splice(at, 1);
    if (own === undefined) lines.push(foreign(part));
    else if (saysSame(own, part)) lines.push(old.text.slice(own.start, own.end));
    else {
      const [inner, freshInner] = [blockOf(old.text, own), blockOf(fresh.text, part)];
      lines.push(inner && freshInner ? merged(inner, freshInner) : foreign(part));
    }
  }
  lines.push(old.text.slice(old.parts.at(-1)?.end, old.end));
  return lines
    .filter((text) => text !== '')
    .map((text, index, { length }) =>
      text.endsWith('\n') || index === length - 1 ? text : `${text}${lineEnd}`,
    )
    .join('');
}

function saysSame(one: Part, other: Part): boolean {
  return isDeepStrictEqual(dataOf(one.value), dataOf(other.value));
}

function dataOf(value: unknown): unknown {
  return isNode(value) ? value.toJSON() : value;
}

/** @returns `undefined` for a value in another form, such as a list in brackets */
function blockOf(text: string, { start, end, value }: Omit<Part, 'name'>): Block | undefined {
  if ((!isMap(value) && !isSeq(value)) || value.flow === true) return undefined;
  const entries = value.items.map((item) => {
    const [first, last] = isPair(item) ? [item.key, item.value ?? item.key] : [item, item];
    return { first, last, value: isPair(item) ? item.value : item };
  });
  const lines = entries.flatMap(({ first }) =>
    isNode(first) && first.range ? [lineStart(text, first.range[0])] : [],
  );
  const columns = new Set(lines.map((line) => indentAt(text, line)));
  const [column = 0] = columns;
  const areOnTheirOwn = new Set(lines).size === entries.length && columns.size === 1;
  if (!areOnTheirOwn || lines.some((line) => line < start)) return undefined;
  const starts = lines.map((line, index) => {
    const above = entries[index - 1]?.last;
    return index === 0 ? line : withCommentsAbove(text, { line, column, above });
  });
  const tail = withCommentsAbove(text, { line: end, column, above: entries.at(-1)?.last });
  const parts = entries.map(({ first, value: own }, index) => ({
    name: isScalar(first) ? String(first.value) : JSON.stringify(dataOf(first)),
    value: own,
    start: starts[index] ?? end,
    end: starts[index + 1] ?? tail,
  }));
  return { text, column, start, end, parts };
}

/**
 * Where the blank lines and comments that belong to a line begin. They are above it, indented no
 * deeper, and below the node `above`.
 */
function withCommentsAbove(
  text: string,
  { line, column, above }: { line: number; column: number; above: unknown },
): number {
  const floor = isNode(above) ? lineAfter(text, above) : line;
  let start = line;
  while (start > floor) {
    const before = lineStart(text, start - 1);
    const isOwn = /^ *(#|\r?$)/.test(text.slice(before, start).replace(/\n$/, ''));
    const isBlank = text.slice(before, start).trim() === '';
    if (before < floor || !isOwn || (!isBlank && indentAt(text, before) > column)) break;
    start = before;
  }
  return start;
}

function lineAfter(text: string, { range }: Node): number {
  // The value of a block scalar ends where the next line begins.
  const end = range?.[1] ?? 0;
  if (text[end - 1] === '\n') return end;
  const next = text.indexOf('\n', end);
  return next === -1 ? text.length : next + 1;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function indentAt(text: string, line: number): number {
  return /^ */.exec(text.slice(line))?.[0].length ?? 0;
}

function indented(text: string, by: number): string {
  if (by > 0) return text.replace(/^(?=.)/gm, ' '.repeat(by));
  return by < 0 ? text.replace(new RegExp(`^ {1,${-by}}`, 'gm'), '') : text;
}
