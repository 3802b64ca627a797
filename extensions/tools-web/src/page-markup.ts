import type { Formula } from './page-formulas.js';
import type { PageLinks } from './page-links.js';

/** Limits of the markup. They come from measurements of the libraries that read it next. */
export const MARKUP_LIMITS = {
  elements: 40_000,
  depth: 120,
  chars: 3_000_000,
  // The libraries ask each element for everything below it, so depth costs quadratic time.
  depthOfElements: 1_000_000,
  // Each quote, item and cell rewrites its content, with a mark before each line.
  rewrittenChars: 30_000_000,
} as const;

const MAX_ATTRIBUTE_CHARS = 300;
const MARK_CHARS = 2;
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'wbr', 'col']);
const OUTER: ReadonlySet<string> = new Set(['html', 'head', 'body']);
const REWRITING: ReadonlySet<string> = new Set(['blockquote', 'li', 'td', 'th']);
const INLINE: ReadonlySet<string> = new Set(
  'a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var'.split(
    ' ',
  ),
);
/**
 * Headings, terms and code. Their names come from the text: the id of a heading is made from its
 * words, and the class of a word in code tells what it is.
 */
const NAMED_BY_TEXT: ReadonlySet<string> = new Set('h1 h2 h3 h4 h5 h6 dt pre'.split(' '));
const NAMES: ReadonlySet<string> = new Set(['class', 'id']);
const KEPT_ATTRIBUTES = [
  'align',
  'alt',
  'class',
  'colspan',
  'data-lang',
  'data-language',
  'dir',
  'id',
  'itemprop',
  'itemtype',
  'lang',
  'rel',
  'role',
  'rowspan',
  'start',
  'title',
];

/**
 * Writes the markup of a page anew: few attributes, bounded depth, links of the web, no scripts.
 */
export class PageMarkup {
  readonly #links: PageLinks;
  readonly #parts: string[] = [];
  #chars = 0;
  #elements = 0;
  #depths = 0;
  #depth = 0;
  /** The number of open elements with a name that comes from their text. */
  #named = 0;
  #rewriting = 0;
  #rewritten = 0;
  #endsInSpace = true;

  /** @param links resolves the URLs in tags */
  constructor(links: PageLinks) {
    this.#links = links;
  }

  toString(): string {
    return this.#parts.join('');
  }

  /** Whether the markup is over a limit. Then it is incomplete, and can't be used. */
  get isTooMuch(): boolean {
    return (
      this.#elements > MARKUP_LIMITS.elements ||
      this.#depths > MARKUP_LIMITS.depthOfElements ||
      this.#chars > MARKUP_LIMITS.chars ||
      this.#rewritten > MARKUP_LIMITS.rewrittenChars
    );
  }

  /** Writes a start tag. @returns whether it was written; if so, `close` must be called for it */
  open(name: string, attributes: Record<string, string>): boolean {
    this.#elements += 1;
    this.#depths += this.#depth;
    const isWritten =
      /^[a-z][a-z0-9-]{0,30}$/.test(name) && !OUTER.has(name) && this.#depth < MARKUP_LIMITS.depth;
    if (!isWritten || this.isTooMuch) return false;
    if (NAMED_BY_TEXT.has(name)) this.#named += 1;
    const kept = KEPT_ATTRIBUTES.flatMap((key) => {
      const value = attributes[key];
      if (value === undefined) return [];
      const isApart = NAMES.has(key) && !this.#tellsRole(key, name, attributes);
      return [attribute(isApart ? `data-${key}` : key, value.slice(0, MAX_ATTRIBUTE_CHARS))];
    });
    if (name === 'a') {
      const href = this.#links.resolve(attributes.href ?? '', true);
      if (href !== undefined) kept.push(attribute('href', href));
      const note = noteOf(attributes);
      if (note !== undefined) kept.push(attribute('data-note', note));
    }
    if (name === 'img') {
      const src = this.#sourceOf(attributes);
      // An image without alternative text tells a reader nothing.
      if (src === undefined || !attributes.alt?.trim()) return false;
      kept.push(attribute('src', src));
    }
    this.#write(`<${name}${kept.join('')}>`);
    if (name === 'img') this.#endsInSpace = false;
    else if (!INLINE.has(name)) this.#endsInSpace = true;
    this.#depth += 1;
    if (REWRITING.has(name)) this.#rewriting += 1;
    return true;
  }

  close(name: string): void {
    if (!VOID.has(name)) this.#write(`</${name}>`);
    this.#depth -= 1;
    if (NAMED_BY_TEXT.has(name)) this.#named -= 1;
    if (REWRITING.has(name)) this.#rewriting -= 1;
  }

  /** Writes text. @param isPre whether white space is kept; otherwise it becomes single spaces */
  text(text: string, isPre: boolean): void {
    // The source gives a text in pieces: one run of spaces may come as several.
    const isDouble = !isPre && this.#endsInSpace && text.startsWith(' ');
    const shown = isDouble ? text.slice(1) : text;
    if (shown === '') return;
    this.#endsInSpace = !isPre && shown.endsWith(' ');
    if (this.#rewriting > 0) {
      const lines = isPre ? shown.split('\n').length : 1;
      this.#rewritten += this.#rewriting * (shown.length + lines * this.#rewriting * MARK_CHARS);
    }
    this.#write(escapeText(shown));
  }

  /**
   * Writes a formula, in TeX. Elements that a page itself calls `math` are never written with that
   * name.
   */
  formula({ tex, isBlock }: Formula): void {
    this.#elements += 1;
    if (this.isTooMuch) return;
    this.#write(`<math${isBlock ? ' display="block"' : ''}>`);
    this.text(tex, true);
    this.#write('</math>');
    this.#endsInSpace = false;
  }

  /**
   * Whether a class or an id may tell that an element is not content. Readability removes what is
   * called "comment" or "header", for example. But a heading "Comments" has the id `comments`, and so
   * may the section below it.
   */
  #tellsRole(key: string, name: string, { class: names = '' }: Record<string, string>): boolean {
    if (this.#named > 0) return false;
    if (key === 'class') return true;
    const isSection = name === 'section' || /(?:^|\s)section(?:\s|$)/.test(names);
    return !isSection && !INLINE.has(name);
  }

  /** Returns the URL of an image. When a script loads the images, it is in another attribute. */
  #sourceOf(attributes: Record<string, string>): string | undefined {
    return (
      this.#links.resolve(attributes.src ?? '') ?? this.#links.resolve(attributes['data-src'] ?? '')
    );
  }

  #write(text: string): void {
    this.#chars += text.length;
    if (this.#chars <= MARKUP_LIMITS.chars) this.#parts.push(text);
  }
}

/** Returns the id of the note that a link in a text leads to. */
function noteOf({
  href = '',
  role,
  class: names = '',
}: Record<string, string>): string | undefined {
  if (!/^#[^\s"]{1,100}$/.test(href)) return undefined;
  const isNote =
    role === 'doc-noteref' ||
    /footnote-?ref|noteref/i.test(names.slice(0, MAX_ATTRIBUTE_CHARS)) ||
    /^#(?:fn(?!ref)|footnote|cite_note|endnote|note|_ftn(?!ref))/i.test(href);
  return isNote ? href.slice(1) : undefined;
}

function attribute(name: string, value: string): string {
  return ` ${name}="${escapeText(value).replaceAll('"', '&quot;')}"`;
}

/** Escapes a text for HTML. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
