import { isoDate } from './page-facts.js';
import { plainText } from './plain-text.js';
import type { SearchResult } from './search-provider.js';

/** A result as the model and programs see it. */
export interface FoundPage {
  title: string;
  url: string;
  snippet: string;
  /** A date or a time in ISO 8601. */
  publishedAt?: string;
}

const MAX_TITLE_CHARS = 200;
const MAX_SNIPPET_CHARS = 500;
const MAX_URL_CHARS = 2_048;
const TRACKING = /^(?:utm_\w+|gclid|fbclid|msclkid|mc_[ce]id)$/;

/**
 * Cleans the results of a provider: no HTML, each page once, in the provider's order.
 *
 * @param since leaves out pages that are known to be older than this day, `YYYY-MM-DD`
 */
export async function cleanResults(
  results: readonly SearchResult[],
  { count, since }: { count: number; since?: string | undefined },
): Promise<FoundPage[]> {
  const found = new Map<string, FoundPage>();
  for (const { title, url, snippet, publishedAt } of results) {
    if (found.size >= count) break;
    const address = webUrl(url);
    if (address === undefined) continue;
    const key = identityOf(address);
    if (found.has(key)) continue;
    const date = isoDate(publishedAt ?? undefined);
    if (date !== undefined && since !== undefined && date.slice(0, 10) < since) continue;
    found.set(key, {
      title: (await plainText(title, MAX_TITLE_CHARS)) || address.host,
      url: address.href,
      snippet: await plainText(snippet, MAX_SNIPPET_CHARS),
      ...(date !== undefined && { publishedAt: date }),
    });
  }
  return [...found.values()];
}

function webUrl(text: string): URL | undefined {
  if (text.length > MAX_URL_CHARS || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  // A user name in a URL is removed: the link must not log anybody in.
  url.username = '';
  url.password = '';
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}

/** Returns a key that is the same for all addresses of one page. */
function identityOf(url: URL): string {
  const copy = new URL(url);
  copy.hash = '';
  for (const name of [...copy.searchParams.keys()]) {
    if (TRACKING.test(name)) copy.searchParams.delete(name);
  }
  const host = copy.host.replace(/^www\./, '');
  return `${host}${copy.pathname.replace(/\/$/, '')}${copy.search}`;
}
