import type TurndownService from 'turndown';
import { addMarkdownRules } from './markdown-rules.js';
import type { ScannedPage } from './scan-html.js';

/** A page as Markdown. */
export interface MarkdownPage {
  markdown: string;
  /** The main content, the whole page, or the page as text because it is too complex for either. */
  extraction: 'article' | 'page' | 'text';
  /** What the article itself says, where the page doesn't. */
  byline?: string;
}

// Less is a teaser, or a guess that went wrong.
const MIN_ARTICLE_CHARS = 200;
const MIN_ARTICLE_SHARE = 0.05;

/** The Markdown of what can be seen: of the main content where there is one. */
export async function htmlToMarkdown(page: ScannedPage): Promise<MarkdownPage> {
  const asText: MarkdownPage = { markdown: page.outline, extraction: 'text' };
  if (page.markup === undefined) return asText;
  try {
    return await convert(page.markup, page);
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
    const byline = article?.byline?.trim();
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
