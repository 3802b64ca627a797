/** How many characters a line may have. A longer line is dropped. */
const MAX_LINE_CHARS = 64 * 1024 * 1024;

/** Splits a stream of text into lines. It holds one line at most. */
export class LineReader {
  readonly #onLine: (line: string) => void;
  readonly #maxChars: number;
  #parts: string[] = [];
  #chars = 0;

  constructor(onLine: (line: string) => void, maxLineChars = MAX_LINE_CHARS) {
    this.#onLine = onLine;
    this.#maxChars = maxLineChars;
  }

  add(text: string): void {
    let start = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', start)) {
      this.#hold(text.slice(start, at));
      this.#flush();
      start = at + 1;
    }
    this.#hold(text.slice(start));
  }

  /** Gives the last line when it has no newline. */
  end(): void {
    if (this.#chars > 0) this.#flush();
  }

  #hold(part: string): void {
    this.#chars += part.length;
    if (this.#chars <= this.#maxChars) this.#parts.push(part);
    else this.#parts = [];
  }

  #flush(): void {
    if (this.#chars <= this.#maxChars) this.#onLine(this.#parts.join('').replace(/\r$/, ''));
    this.#parts = [];
    this.#chars = 0;
  }
}
