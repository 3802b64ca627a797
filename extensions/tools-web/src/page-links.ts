/** A link of a page. */
export interface PageLink {
  text: string;
  /** An absolute URL with `http:` or `https:`. */
  url: string;
}

const MAX_LINKS = 100;
const MAX_URL_CHARS = 2_048;
const MAX_TEXT_CHARS = 200;

/** Collects the links of a page during the scan, and resolves them. */
export class PageLinks {
  /** The number of elements with a link. */
  count = 0;
  readonly #links = new Map<string, PageLink>();
  #base: string;
  #hasBase = false;
  #open: PageLink | undefined;

  /** @param url where the page came from */
  constructor(url: URL) {
    this.#base = url.href;
  }

  /** The first links of the page, each URL once. */
  get all(): PageLink[] {
    return [...this.#links.values()];
  }

  /** Sets the base of relative links to that of a `<base>`. Only the first one counts. */
  base(href: string): void {
    const base = this.#hasBase ? undefined : this.resolve(href);
    if (base === undefined) return;
    this.#hasBase = true;
    this.#base = base;
  }

  /**
   * Returns the absolute URL; `undefined` for another scheme, or for a place in the page itself.
   */
  resolve(href: string, allowsMail = false): string | undefined {
    if (href === '' || href.length > MAX_URL_CHARS || href.startsWith('#')) return undefined;
    if (!URL.canParse(href, this.#base)) return undefined;
    const url = new URL(href, this.#base);
    const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
    return isWeb || (allowsMail && url.protocol === 'mailto:') ? url.href : undefined;
  }

  open(href: string): void {
    const url = this.resolve(href);
    this.#open = url === undefined ? undefined : { text: '', url };
    if (url !== undefined) this.count += 1;
  }

  text(text: string): void {
    if (this.#open !== undefined && this.#open.text.length < MAX_TEXT_CHARS) {
      this.#open.text += text;
    }
  }

  close(): void {
    const link = this.#open;
    this.#open = undefined;
    if (link === undefined || this.#links.size >= MAX_LINKS) return;
    const text = link.text.trim().slice(0, MAX_TEXT_CHARS).toWellFormed();
    const known = this.#links.get(link.url);
    if (known === undefined) this.#links.set(link.url, { text, url: link.url });
    else if (known.text === '') known.text = text;
  }
}
