import { decodeBody } from './decode-body.js';
import { imageSizeOf } from './describe-image.js';
import { DOCX } from './docx-html.js';
import type { Download } from './download.js';
import { isFeed } from './feed-list.js';
import type { HtmlPage } from './html-page.js';
import type { MarkdownPage } from './html-to-markdown.js';
import { type BodyKind, kindOfBody, parseMediaType } from './media-type.js';
import type { PageFacts } from './page-facts.js';
import type { PageLink } from './page-links.js';
import { readPdf } from './pdf-text.js';
import { prettyJson } from './pretty-json.js';
import { readDocx, readFeedText, readHtml } from './read-html.js';

/** The content of a download. */
export interface PageContent extends PageFacts {
  kind: BodyKind;
  mediaType: string;
  /** The whole text; absent when there is none, as for an image. */
  text?: string;
  charset?: string;
  extraction?: MarkdownPage['extraction'];
  links?: PageLink[];
  linkCount?: number;
  /** The number of pages of a PDF. */
  pages?: number;
  image?: { bytes: Uint8Array; mediaType: string; width?: number; height?: number };
  /** Sentences for the model. Each says what is not shown. */
  notes: string[];
}

/** How to show a download. */
export interface ContentOptions {
  /** Show the source instead of what a reader sees. */
  raw: boolean;
  maxImageBytes: number;
  signal: AbortSignal;
}

/** Turns a download into the content that the model sees. @throws the reason of the signal */
export async function contentOf(download: Download, options: ContentOptions): Promise<PageContent> {
  const { essence, charset: header } = parseMediaType(download.headers.get('content-type'));
  const { kind, mediaType } = await kindOfBody(download.bytes, essence);
  const notes = download.isPartial
    ? [`The server has more: only the first ${download.bytes.byteLength} bytes were downloaded.`]
    : [];
  const base = { kind, mediaType, notes };
  if (kind === 'pdf') return pdfContent(base, download, options.signal);
  if (kind === 'image') return imageContent(base, download, options.maxImageBytes);
  if (mediaType === DOCX && !download.isPartial) {
    const page = await readDocx(download.bytes, { url: download.url, signal: options.signal });
    if (page !== undefined) return { ...base, ...shownOf(page, notes) };
  }
  if (kind === 'binary') {
    notes.push(`It is a file of type ${mediaType}; its content is not shown.`);
    return base;
  }
  const { text, charset } = await decodeBody(
    download.bytes,
    header,
    kind === 'html' || kind === 'xml',
  );
  options.signal.throwIfAborted();
  if ((kind === 'json' || kind === 'xml') && !options.raw && isFeed(text)) {
    const feed = await readFeedText(text, { url: download.url, signal: options.signal });
    if (feed !== undefined) return { ...base, charset, ...shownOf(feed, notes) };
  }
  if (kind === 'json' && !options.raw) return { ...base, charset, text: prettyJson(text) };
  if (text.trim() === '') notes.push('It is empty.');
  if (kind !== 'html' || options.raw) return { ...base, charset, text: text.trimEnd() };
  return {
    ...base,
    charset,
    ...(await htmlContent({ html: text, url: download.url, notes }, options.signal)),
  };
}

async function htmlContent(
  { html, url, notes }: { html: string; url: string; notes: string[] },
  signal: AbortSignal,
) {
  const page = await readHtml(html, { url, signal });
  if (page === undefined) {
    notes.push('The page is too complex to be read. Call again with raw, for its source.');
    return {};
  }
  const shown = shownOf(page, notes);
  if (shown.text === '' && !page.isCut && html.trim() !== '') {
    notes.push('The page has no visible text; it may need JavaScript, which is not run.');
  } else if (shown.extraction === 'text') {
    notes.push('The page is too complex for Markdown, and is shown as text.');
  }
  return shown;
}

function shownOf({ isCut, ...shown }: HtmlPage, notes: string[]) {
  if (isCut) notes.push('The page is too long or too complex: the rest of it is not shown.');
  return shown;
}

async function pdfContent(
  base: PageContent,
  { bytes, isPartial }: Download,
  signal: AbortSignal,
): Promise<PageContent> {
  if (isPartial) {
    base.notes.push('A part of a PDF can not be read, so its text is not shown.');
    return base;
  }
  const reading = await readPdf(bytes, signal);
  if (!reading.ok) {
    base.notes.push(`The text of the PDF can not be shown: ${reading.reason.replace(/\.$/, '')}.`);
    return base;
  }
  const { text, pages, isCut, title, author } = reading.pdf;
  if (isCut) base.notes.push('The PDF is too long: the rest of its text is not shown.');
  if (text.replaceAll(/\[page \d+ of \d+\]|\s/g, '') === '') {
    base.notes.push('The PDF has no text; its pages may be images.');
  }
  return {
    ...base,
    text,
    pages,
    ...(title !== undefined && { title }),
    ...(author !== undefined && { byline: author }),
  };
}

async function imageContent(
  base: PageContent,
  { bytes, isPartial }: Download,
  maxImageBytes: number,
): Promise<PageContent> {
  if (isPartial || bytes.byteLength > maxImageBytes) {
    base.notes.push(`The image is larger than ${maxImageBytes} bytes, and is not given.`);
    return base;
  }
  const { mediaType } = base;
  return { ...base, image: { bytes, mediaType, ...(await imageSizeOf(bytes)) } };
}
