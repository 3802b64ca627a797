import type TurndownService from 'turndown';
import { addMarkdownRules } from './markdown-rules.js';
import { oneLine } from './one-line.js';
import type { ScannedPage } from './scan-html.js';

/** A page as Markdown. */
export interface MarkdownPage {
  markdown: string;
  /** The main content, the whole page, or the page as text because it is too complex for either. */
  extraction: 'article' | 'page' | 'text';
  /** What the article itself says, where the page doesn't. */
  byline?: string;
}

const MAX_BYLINE_CHARS = 500;
// Less is a teaser, or a guess that went wrong.
const MIN_ARTICLE_CHARS = 200;
const MIN_ARTICLE_SHARE = 0.05;
// Markup that repeats marks can come to a multiple of the page.
const MAX_CHARS = 5_000_000;

/** The Markdown of what can be seen: of the main content where there is one. */
export async function htmlToMarkdown(page: ScannedPage): Promise<MarkdownPage> {
  const asText: MarkdownPage = { markdown: page.outline, extraction: 'text' };
  if (page.markup === undefined) return asText;
  try {
    const shown = await convert(page.markup, page);
    return shown.markdown.length > MAX_CHARS ? asText : shown;
  } catch {
    // A library that a page broke: the text is there anyway.
    return asText;
  }
}

async function convert(markup: string, page: ScannedPage): Promise<MarkdownPage> {
  const [{ parseHTML }, { Readability }, toMarkdown] = await Promise.all([
    import('linkedom'),
    import('@mozilla/readability'),
    loadTurndown(),
  ]);
  const source = `<!doctype html><html><head><title></title></head><body>${markup}</body></html>`;
  const article = new Readability(parseHTML(source).document, {
    charThreshold: MIN_ARTICLE_CHARS,
    disableJSONLD: true,
    // The language of a block of code is in its class.
    keepClasses: true,
  }).parse();
  const content = article?.content ?? '';
  const chars = article?.textContent?.trim().length ?? 0;
  if (chars >= MIN_ARTICLE_CHARS && chars >= page.outline.length * MIN_ARTICLE_SHARE) {
    const markdown = toMarkdown(parseHTML(`<html><body>${content}</body></html>`).document.body);
    const byline = oneLine(article?.byline ?? '', MAX_BYLINE_CHARS);
    return { markdown, extraction: 'article', ...(byline && { byline }) };
  }
  return { markdown: toMarkdown(parseHTML(source).document.body), extraction: 'page' };
}

type ToMarkdown = (node: TurndownService.Node) => string;

let loading: Promise<ToMarkdown> | undefined;

function loadTurndown(): Promise<ToMarkdown> {
  loading ??= import('turndown').then(({ default: TurndownService }) => {
    const service = new TurndownService({
      headingStyle: 'atx',
      codeBlockStyle: 'fenced',
      bulletListMarker: '-',
      emDelimiter: '*',
      hr: '---',
    });
    addMarkdownRules(service);
    return (node) => service.turndown(node).trim();
  });
  return loading;
}
