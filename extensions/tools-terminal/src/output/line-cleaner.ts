import { cleanLine, needsCleaning } from './clean-line.js';

const MAX_LINE_CHARS = 64 * 1024;
const MAX_CURRENT_CHARS = 2_000;

/**
 * Cleans output as it comes. It returns lines that are complete, or that are too long to wait for.
 */
export class LineCleaner {
  #pending = '';

  /** Adds output. Returns the cleaned lines that are complete now. */
  add(text: string): string {
    // What is pending is without a line end. To search it, too, would copy it for each piece.
    const end = text.lastIndexOf('\n') + 1;
    const cleaned = end === 0 ? '' : cleanLines(this.#pending + text.slice(0, end));
    this.#pending = end === 0 ? this.#pending + text : text.slice(end);
    if (this.#pending.length <= MAX_LINE_CHARS) return cleaned;
    // Only the last state of a progress bar will be shown.
    const state = this.#pending.lastIndexOf('\r', this.#pending.length - 2);
    let told = '';
    if (state > 0) {
      told = overwrittenLines(this.#pending.slice(0, state));
      this.#pending = this.#pending.slice(state);
    }
    if (this.#pending.length <= MAX_LINE_CHARS) return cleaned + told;
    const rest = cleanLine(this.#pending);
    this.#pending = '';
    return cleaned + told + rest;
  }

  /** Returns the cleaned rest, when the last line did not end. */
  end(): string {
    const rest = cleanLine(this.#pending);
    this.#pending = '';
    return rest;
  }

  /**
   * Returns the state of the line that is being written now, e.g. of a progress bar. Nothing if it is
   * longer than 2,000 characters: a part of it might have half of a secret.
   */
  current(): string {
    const end = this.#pending.slice(-MAX_CURRENT_CHARS);
    if (end.length === this.#pending.length) return lastLine(end);
    const state = end.indexOf('\r');
    return state < 0 ? '' : lastLine(end.slice(state));
  }

  /** Returns the end of the line that is being written now: 2,000 characters at most. */
  currentEnd(): string {
    return lastLine(this.#pending.slice(-MAX_CURRENT_CHARS));
  }
}

function lastLine(text: string): string {
  return cleanLine(text).split('\n').at(-1) ?? '';
}

/** Returns the lines that are kept of overwritten states. */
function overwrittenLines(states: string): string {
  // As if something that is no failure came after them.
  const lines = cleanLine(`${states}\r.`).split('\n').slice(0, -1);
  return lines.map((line) => `${line}\n`).join('');
}

function cleanLines(text: string): string {
  if (!needsCleaning(text)) return text;
  return text
    .split('\n')
    .map((line) => cleanLine(line.endsWith('\r') ? line.slice(0, -1) : line))
    .join('\n');
}
