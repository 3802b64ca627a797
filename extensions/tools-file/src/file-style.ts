import type { FileLine } from './file-line.js';

/** The indentation of a file. */
export interface FileStyle {
  usesTabs: boolean;
  usesSpaces: boolean;
  /** By how many columns a line is deeper than the line before it: every number that occurs. */
  steps: ReadonlySet<number>;
  /** The columns at which its lines begin. */
  columns: ReadonlySet<number>;
}

/** Counts how the lines of a file are indented, so that a change of some lines changes the counts. */
export class StyleCounts {
  #tabs = 0;
  #spaces = 0;
  readonly #steps = new Map<number, number>();
  readonly #columns = new Map<number, number>();

  /**
   * Counts lines, each with the step from the line before, and the step to the line after them.
   *
   * @param lines all lines of the file
   * @param range the first line to count, and the one behind the last
   * @param sign 1 to count the lines, -1 to take them back
   */
  count(lines: readonly FileLine[], [from, to]: readonly [number, number], sign: 1 | -1): void {
    let before = widthBeside(lines, from, -1) ?? 0;
    for (let at = from; at < to; at += 1) {
      const line = lines[at];
      if (line === undefined || !isTelling(line)) continue;
      const { text, width } = line;
      if (text.startsWith('\t')) this.#tabs += sign;
      else if (text.startsWith('  ')) this.#spaces += sign;
      add(this.#columns, width, sign);
      if (width > before) add(this.#steps, width - before, sign);
      before = width;
    }
    const after = widthBeside(lines, to - 1, 1) ?? 0;
    if (after > before) add(this.#steps, after - before, sign);
  }

  get style(): FileStyle {
    return {
      usesTabs: this.#tabs > 0,
      usesSpaces: this.#spaces > 0,
      steps: new Set(this.#steps.keys()),
      columns: new Set([0, ...this.#columns.keys()]),
    };
  }
}

/** The stars of a block comment are one column deeper; they say nothing about the indentation. */
function isTelling({ text, width }: FileLine): boolean {
  return width !== -1 && text[width] !== '*';
}

/** The width of the nearest line on one side that says something about the indentation. */
function widthBeside(lines: readonly FileLine[], at: number, step: 1 | -1): number | undefined {
  for (let index = at + step; index >= 0 && index < lines.length; index += step) {
    const line = lines[index];
    if (line !== undefined && isTelling(line)) return line.width;
  }
  return undefined;
}

function add(counts: Map<number, number>, key: number, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
