import type { Line } from './text-lines.js';

/** The indentation of a file. */
export interface FileStyle {
  usesTabs: boolean;
  usesSpaces: boolean;
  /** By how many columns a line is deeper than the line before it: every number that occurs. */
  steps: ReadonlySet<number>;
  /** The columns at which its lines begin. */
  columns: ReadonlySet<number>;
}

/** Derives the indentation of a file from its lines. */
export function fileStyle(lines: readonly Line[]): FileStyle {
  let [usesTabs, usesSpaces] = [false, false];
  const steps = new Set<number>();
  const columns = new Set([0]);
  let before = 0;
  for (const { text } of lines) {
    const width = text.search(/[^ \t]/);
    // The stars of a block comment are one column deeper; they say nothing about the indentation.
    if (width === -1 || text[width] === '*') continue;
    if (text.startsWith('\t')) usesTabs = true;
    else if (text.startsWith('  ')) usesSpaces = true;
    if (width > before) steps.add(width - before);
    columns.add(width);
    before = width;
  }
  return { usesTabs, usesSpaces, steps, columns };
}
