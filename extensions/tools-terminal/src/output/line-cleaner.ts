import { cleanLine } from './clean-line.js';

const MAX_LINE_CHARS = 64 * 1024;

/** Cleans output as it comes. What it returns is lines that are complete, or too long to wait for. */
export class LineCleaner {
  #pending = '';

  /** The output without control sequences, as far as its lines are complete. */
  add(text: string): string {
    const all = this.#pending + text;
    const end = all.lastIndexOf('\n') + 1;
    const cleaned = end === 0 ? '' : cleanLines(all.slice(0, end));
    this.#pending = all.slice(end);
    if (this.#pending.length <= MAX_LINE_CHARS) return cleaned;
    // Only the last state of a progress bar will be shown.
    const state = this.#pending.lastIndexOf('\r', this.#pending.length - 2);
    if (state > 0) this.#pending = this.#pending.slice(state);
    if (this.#pending.length <= MAX_LINE_CHARS) return cleaned;
    const rest = cleanLine(this.#pending);
    this.#pending = '';
    return cleaned + rest;
  }

  /** What is left of a line that never ended. */
  end(): string {
    const rest = cleanLine(this.#pending);
    this.#pending = '';
    return rest;
  }

  /** The line that is being written now, e.g. a progress bar. */
  current(): string {
    return cleanLine(this.#pending.slice(-2000));
  }
}

function cleanLines(text: string): string {
  return text
    .split('\n')
    .map((line) => cleanLine(line.endsWith('\r') ? line.slice(0, -1) : line))
    .join('\n');
}
