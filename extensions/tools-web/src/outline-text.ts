const MAX_CHARS = 5_000_000;
const BLOCKS: ReadonlySet<string> = new Set([
  'address',
  'article',
  'aside',
  'blockquote',
  'body',
  'dd',
  'details',
  'dialog',
  'div',
  'dl',
  'dt',
  'fieldset',
  'figcaption',
  'figure',
  'footer',
  'form',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'header',
  'hr',
  'li',
  'main',
  'nav',
  'ol',
  'p',
  'pre',
  'section',
  'summary',
  'table',
  'tr',
  'ul',
]);
const PARAGRAPHS: ReadonlySet<string> = new Set([
  'article',
  'blockquote',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ol',
  'p',
  'pre',
  'section',
  'table',
  'ul',
]);

/**
 * Builds the plain text of a page during the scan: a line for each block, with marks for headings
 * and items.
 */
export class OutlineText {
  readonly #parts: string[] = [];
  #chars = 0;
  /** How many line ends come before the next text. The largest request counts, not the sum. */
  #pending = 0;
  #mark = '';
  #isEmpty = true;
  #endsInSpace = true;

  open(name: string): void {
    this.#break(name);
    if (name === 'li') this.#mark = '- ';
    else if (/^h[1-6]$/.test(name)) this.#mark = `${'#'.repeat(Number(name[1]))} `;
    else if ((name === 'td' || name === 'th') && this.#pending === 0) this.#push(' | ');
  }

  close(name: string): void {
    this.#break(name);
    if (BLOCKS.has(name)) this.#mark = '';
  }

  /** Adds text. @param isPre whether white space is kept; otherwise it becomes single spaces */
  text(text: string, isPre: boolean): void {
    if (isPre) {
      this.#push(text);
      return;
    }
    const isAtStart = this.#pending > 0 || this.#endsInSpace;
    const shown = isAtStart ? text.trimStart() : text;
    if (shown !== '') this.#push(shown);
  }

  toString(): string {
    return this.#parts.join('').trim();
  }

  #break(name: string): void {
    if (PARAGRAPHS.has(name)) this.#pending = 2;
    else if (BLOCKS.has(name) || name === 'br') this.#pending = Math.max(this.#pending, 1);
  }

  #push(text: string): void {
    if (this.#chars > MAX_CHARS) return;
    const start = this.#isEmpty ? '' : '\n'.repeat(this.#pending);
    const whole = start + this.#mark + text;
    this.#pending = 0;
    this.#mark = '';
    this.#isEmpty = false;
    this.#endsInSpace = text.endsWith(' ');
    this.#chars += whole.length;
    this.#parts.push(whole);
  }
}
