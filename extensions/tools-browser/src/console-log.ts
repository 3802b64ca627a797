import { oneLine } from '@ethosagent/policy';

const MAX_ENTRIES = 200;
const MAX_CHARS = 1_000;

/** A line that a page wrote to its console. */
export interface ConsoleEntry {
  level: 'error' | 'warning' | 'info';
  text: string;
}

/** Keeps the last lines that the pages of a session wrote to their console. */
export class ConsoleLog {
  #entries: ConsoleEntry[] = [];
  #dropped = 0;

  add(type: string, text: string): void {
    const level =
      type === 'error' || type === 'assert' ? 'error' : type === 'warning' ? 'warning' : 'info';
    this.#entries.push({ level, text: oneLine(text, MAX_CHARS) });
    if (this.#entries.length > MAX_ENTRIES) {
      this.#entries.shift();
      this.#dropped += 1;
    }
  }

  get entries(): readonly ConsoleEntry[] {
    return this.#entries;
  }

  /** The number of lines that are no longer kept. */
  get dropped(): number {
    return this.#dropped;
  }

  clear(): void {
    this.#entries = [];
    this.#dropped = 0;
  }
}
