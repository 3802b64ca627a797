import { HeadTail } from './head-tail.js';
import { LineCleaner } from './line-cleaner.js';
import type { Spilled, SpillFile } from './spill-file.js';

const PROGRESS_MS = 250;

export interface CommandOutputOptions {
  /** How many characters of the beginning, and of the end, of each stream are kept. */
  keepChars: number;
  spill: SpillFile;
  /**
   * Called with the newest line, at most four times a second. It is whole: half of a secret would
   * not be found in it.
   */
  onProgress: (line: string) => void;
  /** A clock that never goes back, in milliseconds. */
  now?: () => number;
}

/**
 * Collects the output of a running command: cleans it, keeps both ends, and writes it all to a
 * file.
 */
export class CommandOutput {
  readonly stdout: HeadTail;
  readonly stderr: HeadTail;
  readonly #options: CommandOutputOptions;
  readonly #cleaners = { stdout: new LineCleaner(), stderr: new LineCleaner() };
  #lastProgress = Number.NEGATIVE_INFINITY;
  #lastLine = '';

  constructor(options: CommandOutputOptions) {
    this.#options = options;
    this.stdout = new HeadTail(options.keepChars);
    this.stderr = new HeadTail(options.keepChars);
  }

  /** Adds output. When it returns a promise, wait for it before you add more. */
  add(text: string, stream: 'stdout' | 'stderr'): void | Promise<void> {
    const cleaner = this.#cleaners[stream];
    const cleaned = cleaner.add(text);
    this.#tellProgress(cleaned, cleaner);
    if (cleaned === '') return;
    this[stream].add(cleaned);
    return this.#options.spill.add(cleaned);
  }

  /** Ends the output. Call it once, when no more output comes. */
  async end(): Promise<Spilled> {
    for (const stream of ['stdout', 'stderr'] as const) {
      const rest = this.#cleaners[stream].end();
      if (rest === '') continue;
      this[stream].add(rest);
      await this.#options.spill.add(rest);
    }
    return this.#options.spill.end();
  }

  #tellProgress(cleaned: string, cleaner: LineCleaner): void {
    const now = (this.#options.now ?? (() => performance.now()))();
    if (now - this.#lastProgress < PROGRESS_MS) return;
    const line = cleaner.current().trim() || newestLine(cleaned);
    if (line === '' || line === this.#lastLine) return;
    this.#lastProgress = now;
    this.#lastLine = line;
    this.#options.onProgress(line);
  }
}

function newestLine(text: string): string {
  const lines = text.trimEnd();
  return lines.slice(lines.lastIndexOf('\n') + 1).trim();
}
