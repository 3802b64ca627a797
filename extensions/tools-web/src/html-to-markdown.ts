import { writeMarkdown } from './markdown-writer.js';
import { oneLine } from './one-line.js';
import { escapeText } from './page-markup.js';
import type { ScannedPage } from './scan-html.js';

/** A page as Markdown. */
export interface MarkdownPage {
  markdown: string;
  /**
   * What is shown: the main content, the whole page, only text because the page is too complex, or
   * a feed.
   */
  extraction: 'article' | 'page' | 'text' | 'feed';
  /** The author that the article names. It counts when the page states none. */
  byline?: string;
}

const MAX_BYLINE_CHARS = 500;
// A shorter result is a teaser, or a wrong guess of the main content.
const MIN_ARTICLE_CHARS = 200;
const MIN_ARTICLE_SHARE = 0.05;
// Markdown may repeat marks on each line, so it can become several times as long as the page.
const MAX_CHARS = 5_000_000;

/**
 * Converts the visible part of a page to Markdown: its main content, or the whole page when it has
 * none.
 *
 * @param options `isWhole` when all of the page is content
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
    // A page may make a library throw. The plain text is still there.
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
    // The found element is passed as it is, because its source would only be parsed again.
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
