/**
 * Builds text from pieces of lines and from blocks, with the needed line ends between them.
 *
 * The pieces are joined only once, at the end. Joining them each time that the end of the text is
 * read would need quadratic time.
 */
export class MarkdownFlow {
  /** The pieces, none of them empty. */
  readonly #pieces: string[] = [];
  /** Whether the pieces are only white space. */
  #isBlank = true;
  /** How many line ends come before the next piece. */
  #gap = 0;
  /** Whether a piece begins on a line of its own. */
  hasBlocks = false;

  get isAtStart(): boolean {
    return this.#last === '' || this.#gap > 0 || this.#last.endsWith('\n');
  }

  get lastChar(): string {
    return this.#gap > 0 ? '\n' : this.#last.slice(-1);
  }

  toString(): string {
    return this.#pieces.join('').trim();
  }

  /**
   * Returns the trimmed text, and one space for white space before it, and one for white space
   * after it.
   */
  parts(): [before: string, text: string, after: string] {
    const text = this.toString();
    const before = /^\s/.test(this.#pieces[0] ?? '') ? ' ' : '';
    return [before, text, /\s$/.test(this.#last) && text !== '' ? ' ' : ''];
  }

  /** Adds a piece of a line. */
  inline(piece: string): void {
    const isSpaced = this.#gap > 0 || this.#last.endsWith(' ') || this.#last.endsWith('\n');
    const shown = isSpaced ? piece.trimStart() : piece;
    if (shown === '') return;
    this.#separate();
    this.#add(shown);
  }

  /** Ends a line within a paragraph. */
  lineBreak(): void {
    if (this.#gap > 0 || this.#last === '' || this.#last.endsWith('\n')) return;
    this.#trimEnd();
    this.#add('  \n');
  }

  /** Adds a block. @param gap how many line ends are before and after it */
  block(text: string, gap = 2): void {
    if (text === '') return;
    this.gap(gap);
    this.hasBlocks = true;
    this.#separate();
    this.#add(text);
    this.gap(gap);
  }

  /** Makes the next text begin on a line of its own, after this many line ends. */
  gap(lines: number): void {
    this.#gap = Math.max(this.#gap, lines);
    if (!this.#isBlank) this.hasBlocks = true;
  }

  get #last(): string {
    return this.#pieces.at(-1) ?? '';
  }

  #add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#isBlank) this.#isBlank = piece.trim() === '';
  }

  #trimEnd(): void {
    for (let last = this.#pieces.pop(); last !== undefined; last = this.#pieces.pop()) {
      const trimmed = last.trimEnd();
      if (trimmed === '') continue;
      this.#pieces.push(trimmed);
      return;
    }
  }

  #separate(): void {
    if (this.#gap > 0 && !this.#isBlank) {
      this.#trimEnd();
      this.#add('\n'.repeat(this.#gap));
    }
    this.#gap = 0;
  }
}
