import type { MarkdownPage } from './html-to-markdown.js';
import type { PageFacts } from './page-facts.js';
import type { PageLink } from './page-links.js';
import type { ScannedPage } from './scan-html.js';

/** An HTML page as it is shown. */
export interface HtmlPage extends PageFacts {
  text: string;
  extraction: MarkdownPage['extraction'];
  links: PageLink[];
  linkCount: number;
  /** Whether the end of the page is missing. */
  isCut: boolean;
}

/** Joins the scan of a page with its Markdown. */
export function pageOf(
  page: ScannedPage,
  { markdown, extraction, byline }: MarkdownPage,
): HtmlPage {
  const { markup: _, outline: __, depth: ___, ...rest } = page;
  return { ...(byline !== undefined && { byline }), ...rest, text: markdown, extraction };
}
