import {
  oneLine,
  plainLines,
  showControls,
  showInvisible,
  withoutEscapes,
} from '@ethosagent/policy';
import { createColors } from 'picocolors';
import type { CliIo } from './cli-io.js';

/** Writes what a command says: for people, or as JSON. */
export class Output {
  readonly isJson: boolean;
  readonly color: ReturnType<typeof createColors>;
  readonly #io: CliIo;

  constructor(io: CliIo, isJson: boolean) {
    this.#io = io;
    this.isJson = isJson;
    this.color = createColors(io.colors && !isJson);
  }

  /** A value as JSON: the whole output of a command under `--json`. */
  json(value: unknown): void {
    this.#io.out(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** One JSON value on a line of its own, for output that has no end. */
  jsonLine(value: unknown): void {
    this.#io.out(`${JSON.stringify(value)}\n`);
  }

  line(text = ''): void {
    this.#io.out(`${text}\n`);
  }

  /** For people, beside the output: hints and progress. */
  note(text: string): void {
    this.#io.err(`${text}\n`);
  }

  /** A line of a unified diff from outside, as a person sees it. */
  diffLine(line: string): string {
    const text = safeText(line);
    if (text.startsWith('+')) return this.color.green(text);
    return text.startsWith('-') ? this.color.red(text) : text;
  }

  /** Rows in aligned columns. The last column is not filled up. */
  table(rows: readonly (readonly string[])[]): void {
    const widths = rows.reduce<number[]>(
      (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, plain(cell).length)),
      [],
    );
    for (const row of rows) {
      const cells = row.map((cell, index) =>
        index === row.length - 1
          ? cell
          : cell + ' '.repeat((widths[index] ?? 0) - plain(cell).length),
      );
      this.line(cells.join('  ').trimEnd());
    }
  }
}

const plain = (text: string) => withoutEscapes(text);

/** `1 tool`, `2 tools`. */
export function counted(count: number, [one, more]: readonly [string, string]): string {
  return `${count} ${count === 1 ? one : more}`;
}

/**
 * A text from outside, as a person at a terminal may see it: it moves no cursor, changes no colour
 * and hides nothing. Line ends and tabs stay.
 */
export function safeText(text: string): string {
  return showInvisible(showControls(plainLines(withoutEscapes(text.toWellFormed()))));
}

/** The same as one line of at most so many characters. */
export function safeLine(text: string, maxChars = 200): string {
  return oneLine(safeText(text), maxChars);
}
