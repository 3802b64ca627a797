/** Text that grows by pieces within lines and by blocks, with as many line ends between as they need. */
export class MarkdownFlow {
  #text = '';
  /** Line ends before what comes next. */
  #gap = 0;
  /** Something in it begins a line of its own. */
  hasBlocks = false;

  get isAtStart(): boolean {
    return this.#text === '' || this.#gap > 0 || this.#text.endsWith('\n');
  }

  get lastChar(): string {
    return this.#gap > 0 ? '\n' : this.#text.slice(-1);
  }

  toString(): string {
    return this.#text.trim();
  }

  /** The text, with the spaces that it begins and ends with as one each. */
  parts(): [before: string, text: string, after: string] {
    const text = this.toString();
    const before = /^\s/.test(this.#text) ? ' ' : '';
    return [before, text, /\s$/.test(this.#text) && text !== '' ? ' ' : ''];
  }

  /** A piece of a line. */
  inline(piece: string): void {
    const isSpaced = this.#gap > 0 || this.#text.endsWith(' ') || this.#text.endsWith('\n');
    const shown = isSpaced ? piece.trimStart() : piece;
    if (shown === '') return;
    this.#separate();
    this.#text += shown;
  }

  /** The end of a line within a paragraph. */
  lineBreak(): void {
    if (this.#gap === 0 && this.#text !== '' && !this.#text.endsWith('\n')) {
      this.#text = `${this.#text.trimEnd()}  \n`;
    }
  }

  /** @param gap line ends around it */
  block(text: string, gap = 2): void {
    if (text === '') return;
    this.gap(gap);
    this.hasBlocks = true;
    this.#separate();
    this.#text += text;
    this.gap(gap);
  }

  /** What comes next begins a line of its own. */
  gap(lines: number): void {
    this.#gap = Math.max(this.#gap, lines);
    if (this.#text.trim() !== '') this.hasBlocks = true;
  }

  #separate(): void {
    if (this.#gap > 0 && this.#text.trim() !== '') {
      this.#text = this.#text.trimEnd() + '\n'.repeat(this.#gap);
    }
    this.#gap = 0;
  }
}
