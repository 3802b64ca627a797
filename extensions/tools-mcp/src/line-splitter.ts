/**
 * Splits output into lines as it comes. A line that is too long is reported once, and ends the
 * output.
 */
export class LineSplitter {
  readonly #maxChars: number;
  #pieces: string[] = [];
  #length = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Adds output. Returns the lines that are now complete; `null` when one is too long. */
  push(text: string): string[] | null {
    const lines: string[] = [];
    let at = 0;
    for (;;) {
      const end = text.indexOf('\n', at);
      const piece = text.slice(at, end < 0 ? undefined : end);
      this.#length += piece.length;
      if (this.#length > this.#maxChars) {
        this.#pieces = [];
        return null;
      }
      this.#pieces.push(piece);
      if (end < 0) return lines;
      lines.push(this.#pieces.join(''));
      this.#pieces = [];
      this.#length = 0;
      at = end + 1;
    }
  }
}
