import { writeMarkdown } from './markdown-writer.js';
import { oneLine } from './one-line.js';
import { escapeText } from './page-markup.js';
import type { ScannedPage } from './scan-html.js';

/** A page as Markdown. */
export interface MarkdownPage {
  markdown: string;
  /** The main content, the whole page, the page as text because it is too complex, or a feed. */
  extraction: 'article' | 'page' | 'text' | 'feed';
  /** What the article itself says, where the page doesn't. */
  byline?: string;
}

const MAX_BYLINE_CHARS = 500;
// Less is a teaser, or a guess that went wrong.
const MIN_ARTICLE_CHARS = 200;
const MIN_ARTICLE_SHARE = 0.05;
// Markup that repeats marks can come to a multiple of the page.
const MAX_CHARS = 5_000_000;

/**
 * The Markdown of what can be seen: of the main content where there is one.
 *
 * @param options `isWhole`: all of it is content
 */
export async function htmlToMarkdown(
  page: ScannedPage,
  { isWhole = false }: { isWhole?: boolean } = {},
): Promise<MarkdownPage> {
  const asText: MarkdownPage = { markdown: page.outline, extraction: 'text' };
  if (page.markup === undefined) return asText;
  try {
    const shown = await convert(page.markup, page, isWhole);
    return shown.markdown.length > MAX_CHARS ? asText : shown;
  } catch {
    // A library that a page broke: the text is there anyway.
    return asText;
  }
}

async function convert(markup: string, page: ScannedPage, isWhole: boolean): Promise<MarkdownPage> {
  const [{ parseHTML }, { Readability }] = await Promise.all([
    import('linkedom'),
    import('@mozilla/readability'),
  ]);
  const { title = '' } = page;
  const source = `<!doctype html><html><head><title>${escapeText(title)}</title></head><body>${markup}</body></html>`;
  const whole = (): MarkdownPage => ({
    markdown: writeMarkdown(parseHTML(source).document.body),
    extraction: 'page',
  });
  if (isWhole || page.outline.length < MIN_ARTICLE_CHARS) return whole();
  const article = new Readability(parseHTML(source).document, {
    disableJSONLD: true,
    // The language of a block of code is in its class.
    keepClasses: true,
    // What was found, as it is: its source would only be parsed again.
    serializer: (content) => content,
  }).parse();
  const chars = article?.textContent?.trim().length ?? 0;
  const isWorthIt = chars >= MIN_ARTICLE_CHARS && chars >= page.outline.length * MIN_ARTICLE_SHARE;
  if (!isWorthIt || !article?.content) return whole();
  const byline = oneLine(article.byline ?? '', MAX_BYLINE_CHARS);
  return {
    markdown: writeMarkdown(article.content),
    extraction: 'article',
    ...(byline && { byline }),
  };
}
