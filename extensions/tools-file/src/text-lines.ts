/** A line of a text, with its offsets in the text. */
export interface Line {
  /** The line without its line ending. */
  text: string;
  start: number;
  /** The offset before the line ending. */
  end: number;
  /** The offset after the line ending. It is equal to `end` for a last line without one. */
  next: number;
}

/** Returns the line that begins at an offset. A `\r` before its `\n` belongs to the line ending. */
export function lineAt(text: string, start: number): Line {
  const newline = text.indexOf('\n', start);
  const next = newline === -1 ? text.length : newline + 1;
  const stop = newline === -1 ? text.length : newline;
  const end = newline > start && text[newline - 1] === '\r' ? newline - 1 : stop;
  return { text: text.slice(start, end), start, end, next };
}

/**
 * Splits a text at `\n`. There is no empty line after the last line ending. The lines may take a
 * hundred times the memory of the text.
 */
export function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const line = lineAt(text, start);
    lines.push(line);
    start = line.next;
  }
  return lines;
}

/** Counts the lines that `linesOf` returns. */
export function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return text === '' || text.endsWith('\n') ? count : count + 1;
}

/**
 * Returns the numbers of the lines that have these offsets, counted from 1. The offsets must
 * ascend.
 */
export function lineNumbersAt(text: string, offsets: readonly number[]): number[] {
  let number = 1;
  let newline = text.indexOf('\n');
  return offsets.map((offset) => {
    for (; newline !== -1 && newline < offset; newline = text.indexOf('\n', newline + 1)) {
      number += 1;
    }
    return number;
  });
}
