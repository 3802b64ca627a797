import { LineCleaner } from './line-cleaner.js';

type Stream = 'stdout' | 'stderr';

/**
 * Looks for a text in output as it comes. Colours and other control sequences in it don't matter.
 */
export class TextWatch {
  readonly #wanted: string;
  readonly #cleaners = { stdout: new LineCleaner(), stderr: new LineCleaner() };
  readonly #ends = { stdout: '', stderr: '' };
  #seen = false;

  constructor(wanted: string) {
    this.#wanted = wanted;
  }

  get seen(): boolean {
    return this.#seen;
  }

  add(chunks: readonly { stream: Stream; text: string }[]): void {
    for (const { stream, text } of chunks) {
      const cleaner = this.#cleaners[stream];
      const known = this.#ends[stream] + cleaner.add(text);
      // A prompt has no end of its line.
      if ((known + cleaner.currentEnd()).includes(this.#wanted)) this.#seen = true;
      this.#ends[stream] = known.slice(-this.#wanted.length);
    }
  }
}
