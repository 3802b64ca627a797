const MAX_CHARS = 64 * 1024 * 1024;

/** Collects a text up to a cap. */
export class WholeText {
  readonly #maxChars: number;
  #parts: string[] = [];
  #chars = 0;

  constructor(maxChars = MAX_CHARS) {
    this.#maxChars = maxChars;
  }

  add(text: string): void {
    this.#chars += text.length;
    if (this.#chars <= this.#maxChars) this.#parts.push(text);
    else this.#parts = [];
  }

  /**
   * Returns the text; `undefined` when it was longer than the cap, since a part of a report is
   * useless.
   */
  text(): string | undefined {
    return this.#chars <= this.#maxChars ? this.#parts.join('') : undefined;
  }
}
