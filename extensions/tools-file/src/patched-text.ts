import type { Edit } from './exact-edits.js';
import { type FileLine, fileLinesOf } from './file-line.js';
import { type FileStyle, StyleCounts } from './file-style.js';
import { type Line, lineNumbersAt } from './text-lines.js';

/** Beyond these, the lines of the new text are read anew: that is faster. */
const MAX_EDITS = 8;
const MAX_LINES = 10_000;
/** So often, a search looks through all lines. */
const FEW_SEARCHES = 2;

/**
 * A text that hunks change one after the other. After a change, only the lines that it touches are
 * read again.
 */
export class PatchedText {
  #text: string;
  #known: KnownLines | undefined;
  #searches = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  /**
   * The lines of the text as it is now. They change with it. Their offsets are only right after
   * `settle`.
   */
  get lines(): readonly FileLine[] {
    return this.#look().lines;
  }

  /** Makes the offsets right of all lines before an index. */
  settle(index: number): void {
    const known = this.#look();
    if (index > known.shiftedFrom) shiftFrom(known, Math.min(index, known.lines.length));
  }

  /** The indentation of the text. */
  get style(): FileStyle {
    return this.#look().counts.style;
  }

  /**
   * The lines by the form in which they are compared, each form's in no order. `undefined` for the
   * first hunks: to look through all lines is faster for them.
   */
  get linesByKey(): ReadonlyMap<string, ReadonlySet<FileLine>> | undefined {
    const known = this.#look();
    this.#searches += 1;
    if (this.#searches > FEW_SEARCHES) known.byKey ??= byKeyOf(known.lines);
    return known.byKey;
  }

  /** The index of a line. */
  indexOf(line: FileLine): number {
    const { lines, shiftedFrom } = this.#look();
    const at = lastAt([0, shiftedFrom], (index) => (lines[index]?.start ?? 0) <= line.start);
    if (lines[at] === line) return at;
    const range = [shiftedFrom, lines.length] as const;
    return lastAt(range, (index) => (lines[index]?.start ?? 0) <= line.start);
  }

  #look(): KnownLines {
    this.#known ??= knownLines(fileLinesOf(this.#text));
    return this.#known;
  }

  /** As `lineNumbersAt`. */
  lineNumbersAt(offsets: readonly number[]): number[] {
    const known = this.#known;
    if (known === undefined) return lineNumbersAt(this.#text, offsets);
    return offsets.map((offset) => {
      // Behind the last line ending, there is one more line, which has no text yet.
      const isBehind = offset === this.#text.length && this.#text.endsWith('\n');
      return isBehind ? known.lines.length + 1 : Math.max(lineAt(known, offset), 0) + 1;
    });
  }

  /** Makes changes that ascend and don't overlap. */
  apply(edits: readonly Edit[]): void {
    if (edits.length > MAX_EDITS) {
      this.#text = splice(this.#text, edits);
      this.#known = undefined;
      return;
    }
    for (const edit of edits.toReversed()) {
      this.#replaceLines(edit);
      this.#text = splice(this.#text, [edit]);
    }
  }

  #replaceLines({ start, end, replacement }: Edit): void {
    const known = this.#known;
    if (known === undefined) return;
    const { lines, byKey, counts } = known;
    const [from, to] = [lineAt(known, start), lineAt(known, end)];
    const [first, last] = [lines[from], lines[to]];
    if (first === undefined || last === undefined) {
      this.#known = undefined;
      return;
    }
    shiftFrom(known, to + 1);
    const text = this.#text;
    const changed = fileLinesOf(
      text.slice(first.start, start) + replacement + text.slice(end, last.next),
    );
    if (changed.length > MAX_LINES) {
      this.#known = undefined;
      return;
    }
    for (const line of changed) move(line, first.start);
    known.shift += replacement.length - (end - start);
    known.shiftedFrom = from + changed.length;
    counts.count(lines, [from, to + 1], -1);
    for (const line of lines.splice(from, to - from + 1, ...changed)) {
      byKey?.get(line.key)?.delete(line);
    }
    counts.count(lines, [from, from + changed.length], 1);
    if (byKey !== undefined) for (const line of changed) addTo(byKey, line);
  }
}

/** The lines of a text, and what is known of them. */
interface KnownLines {
  readonly lines: FileLine[];
  readonly counts: StyleCounts;
  /**
   * What is missing in the offsets of the lines from `shiftedFrom` on. Hunks mostly ascend, so this
   * place mostly goes forward, and each line is moved once and not once for each hunk.
   */
  shift: number;
  shiftedFrom: number;
  /** The lines that are not blank, by their keys. */
  byKey?: Map<string, Set<FileLine>>;
}

function knownLines(lines: FileLine[]): KnownLines {
  const counts = new StyleCounts();
  counts.count(lines, [0, lines.length], 1);
  return { lines, counts, shift: 0, shiftedFrom: lines.length };
}

function byKeyOf(lines: readonly FileLine[]): Map<string, Set<FileLine>> {
  const byKey = new Map<string, Set<FileLine>>();
  for (const line of lines) addTo(byKey, line);
  return byKey;
}

function addTo(byKey: Map<string, Set<FileLine>>, line: FileLine): void {
  if (line.key === '') return;
  const known = byKey.get(line.key);
  if (known === undefined) byKey.set(line.key, new Set([line]));
  else known.add(line);
}

function move(line: Line | undefined, offset: number): void {
  if (line === undefined) return;
  line.start += offset;
  line.end += offset;
  line.next += offset;
}

/** Has the shift begin at another line. */
function shiftFrom(known: KnownLines, index: number): void {
  const { lines, shift } = known;
  for (let at = known.shiftedFrom; at < index; at += 1) move(lines[at], shift);
  for (let at = index; at < known.shiftedFrom; at += 1) move(lines[at], -shift);
  known.shiftedFrom = index;
}

/** The index of the last line that begins at or before an offset; -1 where there is no line. */
function lineAt({ lines, shift, shiftedFrom }: KnownLines, offset: number): number {
  return lastAt([0, lines.length], (index) => {
    const start = lines[index]?.start ?? 0;
    return (index < shiftedFrom ? start : start + shift) <= offset;
  });
}

/** The last index of a range at which a condition holds that no later index fulfils again. */
function lastAt([from, to]: readonly [number, number], holds: (index: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export function splice(text: string, edits: readonly Edit[]): string {
  let result = '';
  let from = 0;
  for (const { start, end, replacement } of edits) {
    result += text.slice(from, start) + replacement;
    from = end;
  }
  return result + text.slice(from);
}
