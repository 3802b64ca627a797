import { z } from 'zod';
import type { HtmlPage } from './html-page.js';
import { oneLine } from './one-line.js';
import { isoDate } from './page-facts.js';
import { PageLinks } from './page-links.js';
import { plainText } from './plain-text.js';

const MAX_ITEMS = 200;
const MAX_TITLE_CHARS = 300;
const MAX_EXCERPT_CHARS = 400;
const FEED =
  /^(?:\s|<\?(?:(?!\?>)[\s\S]){0,1000}\?>|<!--(?:(?!-->)[\s\S]){0,1000}-->|<!doctype[^>]{0,300}>)*<(?:rss|feed|rdf:rdf)[\s>]/i;
const JSON_FEED = /"version"\s*:\s*"https?:\\?\/\\?\/jsonfeed\.org\\?\/version/;

interface FeedItem {
  title: string;
  link: string;
  date: string | undefined;
  text: string;
}

interface Feed {
  title: string;
  description: string;
  items: FeedItem[];
}

const text = z.string().optional().catch(undefined);
const jsonFeed = z.object({
  title: text,
  description: text,
  items: z.array(
    z.object({
      title: text,
      url: text,
      external_url: text,
      date_published: text,
      summary: text,
      content_text: text,
      content_html: text,
    }),
  ),
});

/** Whether a text begins like RSS, Atom or RDF, or is a JSON feed. */
export function isFeed(source: string): boolean {
  const start = source.slice(0, 4_096).replace(/^\ufeff/, '');
  return FEED.test(start) || (start.trimStart().startsWith('{') && JSON_FEED.test(start));
}

/**
 * Renders a feed as a list of its items, with links and dates. `undefined` when it is not a feed.
 */
export async function readFeed(source: string, url: URL): Promise<HtmlPage | undefined> {
  const feed = source.trimStart().startsWith('{') ? fromJson(source) : await fromXml(source);
  if (feed === undefined || feed.items.length === 0) return undefined;
  const links = new PageLinks(url);
  const lines: string[] = [];
  for (const [at, item] of feed.items.slice(0, MAX_ITEMS).entries()) {
    lines.push(await itemLines(item, { at, links }));
  }
  const title = oneLine(await plainText(feed.title, MAX_TITLE_CHARS), MAX_TITLE_CHARS);
  const description = await plainText(feed.description, MAX_EXCERPT_CHARS);
  const head = [title === '' ? '' : `# ${title}`, description].filter((part) => part !== '');
  return {
    text: [...head, lines.join('\n')].join('\n\n'),
    extraction: 'feed',
    links: links.all,
    linkCount: links.count,
    isCut: feed.items.length > MAX_ITEMS,
    ...(title !== '' && { title }),
    ...(description !== '' && { description }),
  };
}

async function itemLines(
  item: FeedItem,
  { at, links }: { at: number; links: PageLinks },
): Promise<string> {
  const excerpt = await plainText(item.text, MAX_EXCERPT_CHARS);
  const title = await plainText(item.title, MAX_TITLE_CHARS);
  const name = title === '' ? excerpt.slice(0, 80) : title;
  const href = links.resolve(item.link.trim());
  links.open(href ?? '');
  links.text(name);
  links.close();
  const date = item.date === undefined ? '' : ` (${item.date})`;
  const first = `${at + 1}. ${href === undefined ? name : `[${name}](${href})`}${date}`;
  return excerpt === '' || title === '' ? first : `${first}\n   ${excerpt}`;
}

async function fromXml(source: string): Promise<Feed | undefined> {
  const { parseFeed } = await import('htmlparser2');
  const feed = parseFeed(source);
  if (feed === null) return undefined;
  return {
    title: feed.title ?? '',
    description: feed.description ?? '',
    items: feed.items.map(({ title, link, id, pubDate, description }) => ({
      title: title ?? '',
      link: link ?? (/^https?:/.test(id ?? '') ? (id ?? '') : ''),
      date: dateOf(pubDate),
      text: description ?? '',
    })),
  };
}

function dateOf(date: Date | undefined): string | undefined {
  if (date === undefined || Number.isNaN(date.getTime())) return undefined;
  return date.toISOString().replace('.000Z', 'Z');
}

function fromJson(source: string): Feed | undefined {
  const { data } = jsonFeed.safeParse(JSON.parse(source));
  return (
    data && {
      title: data.title ?? '',
      description: data.description ?? '',
      items: data.items.map((item) => ({
        title: item.title ?? '',
        link: item.url ?? item.external_url ?? '',
        date: isoDate(item.date_published),
        text: item.summary ?? item.content_text ?? item.content_html ?? '',
      })),
    }
  );
}
