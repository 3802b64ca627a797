/**
 * Builds text from pieces of lines and from blocks, with the needed line ends between them.
 *
 * The pieces are joined only at the end. To join them for each look at the end of the text would need
 * quadratic time.
 */
export class MarkdownFlow {
  /** None of them is empty. */
  readonly #pieces: string[] = [];
  /** Something in them is no white space. */
  #isBlank = true;
  /** Line ends before what comes next. */
  #gap = 0;
  /** Something in it begins a line of its own. */
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

  /** The text, with the spaces that it begins and ends with as one each. */
  parts(): [before: string, text: string, after: string] {
    const text = this.toString();
    const before = /^\s/.test(this.#pieces[0] ?? '') ? ' ' : '';
    return [before, text, /\s$/.test(this.#last) && text !== '' ? ' ' : ''];
  }

  /** A piece of a line. */
  inline(piece: string): void {
    const isSpaced = this.#gap > 0 || this.#last.endsWith(' ') || this.#last.endsWith('\n');
    const shown = isSpaced ? piece.trimStart() : piece;
    if (shown === '') return;
    this.#separate();
    this.#add(shown);
  }

  /** The end of a line within a paragraph. */
  lineBreak(): void {
    if (this.#gap > 0 || this.#last === '' || this.#last.endsWith('\n')) return;
    this.#trimEnd();
    this.#add('  \n');
  }

  /** @param gap line ends around it */
  block(text: string, gap = 2): void {
    if (text === '') return;
    this.gap(gap);
    this.hasBlocks = true;
    this.#separate();
    this.#add(text);
    this.gap(gap);
  }

  /** The next text begins on a line of its own. */
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
