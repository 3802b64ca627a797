import { type Line, linesOf } from './text-lines.js';
import { lineKey } from './written-line.js';

/** A line of a file, with what is looked up again for each hunk. */
export interface FileLine extends Line {
  /** The form in which lines are compared. It is empty for a blank line. */
  readonly key: string;
  /** The number of blanks and tabs before the text; -1 for a line without any text. */
  readonly width: number;
}

/** Splits a text into the lines of a file. */
export function fileLinesOf(text: string): FileLine[] {
  return linesOf(text).map(({ text, start, end, next }) => ({
    text,
    start,
    end,
    next,
    key: lineKey(text),
    width: text.search(/[^ \t]/),
  }));
}
