import {
  oneLine,
  plainLines,
  showControls,
  showInvisible,
  withoutEscapes,
} from '@ethosagent/policy';
import { errorCodeOf } from '@ethosagent/types';
import { createColors } from 'picocolors';
import { messageOf } from './cli-error.js';
import type { CliIo } from './cli-io.js';

/** Writes the output of a command, for people or as JSON. */
export class Output {
  readonly isJson: boolean;
  readonly color: ReturnType<typeof createColors>;
  readonly #io: CliIo;

  constructor(io: CliIo, isJson: boolean) {
    this.#io = io;
    this.isJson = isJson;
    this.color = createColors(io.colors && !isJson);
  }

  /** Writes a value as JSON: the whole output of a command with `--json`. */
  json(value: unknown): void {
    this.#io.out(`${JSON.stringify(value, plainError, 2)}\n`);
  }

  /** Writes one JSON value on a line of its own, for output without an end. */
  jsonLine(value: unknown): void {
    this.#io.out(`${JSON.stringify(value, plainError)}\n`);
  }

  line(text = ''): void {
    this.#io.out(`${text}\n`);
  }

  /** Writes hints and progress for people, separate from the output. */
  note(text: string): void {
    this.#io.err(`${text}\n`);
  }

  /** A line of a unified diff from outside, in safe form. */
  diffLine(line: string): string {
    const text = safeText(line);
    if (text.startsWith('+')) return this.color.green(text);
    return text.startsWith('-') ? this.color.red(text) : text;
  }

  /** Writes rows in aligned columns. The last column is not padded. */
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

/** An error as JSON. Its message is no property that `JSON.stringify` writes. */
function plainError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const code = errorCodeOf(value);
  return { ...(code !== undefined && { code }), message: messageOf(value) };
}

const plain = (text: string) => withoutEscapes(text);

/** E.g. `1 tool`, `2 tools`. */
export function counted(count: number, [one, more]: readonly [string, string]): string {
  return `${count} ${count === 1 ? one : more}`;
}

/**
 * A text from outside in safe form for a terminal: it moves no cursor, changes no colour and hides
 * nothing. Line breaks and tabs stay.
 */
export function safeText(text: string): string {
  return showInvisible(showControls(plainLines(withoutEscapes(text.toWellFormed()))));
}

/** As `safeText`, in one line of at most `maxChars` characters. */
export function safeLine(text: string, maxChars = 200): string {
  return oneLine(safeText(text), maxChars);
}
