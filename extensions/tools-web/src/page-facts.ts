import { z } from 'zod';
import { oneLine } from './one-line.js';

/** Facts that a page states about itself. */
export interface PageFacts {
  title?: string;
  byline?: string;
  siteName?: string;
  /** An absolute URL. */
  canonicalUrl?: string;
  /** The language as the page states it, e.g. `de-CH`. */
  language?: string;
  /** A date or a time in ISO 8601. */
  publishedAt?: string;
  description?: string;
}

const MAX_FACT_CHARS = 500;
const ARTICLE = /(?:Article|Posting|Report|Review|Recipe|WebPage)$/;

const names = z.union([
  z.string(),
  z.looseObject({ name: z.string() }).transform(({ name }) => name),
]);
const linkedData = z.looseObject({
  '@type': z.union([z.string(), z.array(z.string())]),
  headline: z.string().optional().catch(undefined),
  datePublished: z.string().optional().catch(undefined),
  author: z
    .union([names.transform((name) => [name]), z.array(names)])
    .optional()
    .catch(undefined),
  publisher: names.optional().catch(undefined),
});

/**
 * Collects the facts of a page from all places that state them. The more reliable place wins; among
 * equal ones, the first.
 */
export class PageFactsCollector {
  readonly #base: string;
  readonly #found = new Map<keyof PageFacts, { text: string; rank: number }>();

  /** @param base the URL that links of the page are relative to */
  constructor(base: URL) {
    this.#base = base.href;
  }

  title(text: string): void {
    this.#add('title', text, 3);
  }

  language(text: string): void {
    if (/^[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,3}$/i.test(text)) this.#add('language', text, 1);
  }

  canonical(href: string): void {
    this.#addUrl(href, 1);
  }

  /**
   * Adds a `<time datetime>`. The first one counts, and only when the page states no better date.
   */
  time(datetime: string): void {
    this.#addDate(datetime, 5);
  }

  meta(name: string, content: string): void {
    switch (name.toLowerCase()) {
      case 'og:title':
        this.#add('title', content, 2);
        break;
      case 'twitter:title':
        this.#add('title', content, 4);
        break;
      case 'author':
      case 'article:author':
      case 'dc.creator':
      case 'parsely-author':
        // Some pages give the URL of a profile instead of a name.
        if (!/^https?:/i.test(content)) this.#add('byline', content, 1);
        break;
      case 'og:site_name':
      case 'application-name':
        this.#add('siteName', content, 1);
        break;
      case 'og:url':
        this.#addUrl(content, 2);
        break;
      case 'og:locale':
        if (/^[a-z]{2,3}(?:_[a-z]{2})?$/i.test(content)) {
          this.#add('language', content.replace('_', '-'), 2);
        }
        break;
      case 'description':
      case 'og:description':
        this.#add('description', content, 1);
        break;
      case 'article:published_time':
      case 'og:published_time':
      case 'datepublished':
      case 'date':
      case 'dc.date':
      case 'dc.date.issued':
      case 'dcterms.created':
      case 'parsely-pub-date':
        this.#addDate(content, 1);
        break;
    }
  }

  /** Adds the text of a JSON-LD script. */
  linkedData(text: string): void {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      return;
    }
    for (const item of itemsOf(parsed)) {
      const { data } = linkedData.safeParse(item);
      if (data === undefined || ![data['@type']].flat().some((type) => ARTICLE.test(type)))
        continue;
      this.#add('title', data.headline, 2);
      this.#addDate(data.datePublished, 2);
      this.#add('byline', data.author?.slice(0, 10).join(', '), 2);
      this.#add('siteName', data.publisher, 2);
    }
  }

  get facts(): PageFacts {
    return Object.fromEntries([...this.#found].map(([name, { text }]) => [name, text]));
  }

  #add(name: keyof PageFacts, text: string | undefined, rank: number): void {
    const known = this.#found.get(name);
    if (text === undefined || (known !== undefined && known.rank <= rank)) return;
    const plain = oneLine(text, MAX_FACT_CHARS);
    if (plain !== '') this.#found.set(name, { text: plain, rank });
  }

  #addUrl(href: string, rank: number): void {
    if (href.trim() === '' || !URL.canParse(href, this.#base)) return;
    const url = new URL(href, this.#base);
    if (url.protocol === 'http:' || url.protocol === 'https:') {
      this.#add('canonicalUrl', url.href, rank);
    }
  }

  #addDate(text: string | undefined, rank: number): void {
    this.#add('publishedAt', isoDate(text), rank);
  }
}

/**
 * Converts a date to ISO 8601. A day without a time stays a day. `undefined` when it is not a date.
 */
export function isoDate(text: string | undefined): string | undefined {
  const plain = text?.trim() ?? '';
  if (plain.length > 100) return undefined;
  const day = /^\d{4}-\d{2}-\d{2}$/.exec(plain);
  // Without a time zone, `Date` would use the zone of this machine.
  const zoned = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/.test(plain)
    ? `${plain.replace(' ', 'T')}Z`
    : plain;
  if (!/\d{4}/.test(zoned) || /^\d+$/.test(zoned)) return undefined;
  const time = Date.parse(
    /[zZ]$|[+-]\d{2}:?\d{2}$|GMT|UTC|\b[A-Z]{3}$/.test(zoned) || day ? zoned : `${zoned} UTC`,
  );
  if (Number.isNaN(time)) return undefined;
  const iso = new Date(time).toISOString();
  // `Date` reads February 31 as a day of March.
  if (day && !iso.startsWith(plain)) return undefined;
  return day ? iso.slice(0, 10) : iso.replace('.000Z', 'Z');
}

/** Returns the objects of a JSON-LD text, without those that are parts of others. */
function itemsOf(parsed: unknown): unknown[] {
  const items = [parsed].flat().slice(0, 50);
  return items.flatMap((item) => {
    if (typeof item !== 'object' || item === null) return [];
    const graph: unknown = Reflect.get(item, '@graph');
    return Array.isArray(graph) ? graph.slice(0, 200) : [item];
  });
}
