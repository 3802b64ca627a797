import { decodeBody } from './decode-body.js';
import { imageSizeOf } from './describe-image.js';
import type { Download } from './download.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import { type BodyKind, kindOfBody, parseMediaType } from './media-type.js';
import type { PageFacts } from './page-facts.js';
import type { PageLink } from './page-links.js';
import { readPdf } from './pdf-text.js';
import { scanHtml } from './scan-html.js';

/** What a download shows. */
export interface PageContent extends PageFacts {
  kind: BodyKind;
  mediaType: string;
  /** The whole text; absent for what has none. */
  text?: string;
  charset?: string;
  extraction?: 'article' | 'page' | 'text';
  links?: PageLink[];
  linkCount?: number;
  /** Of a PDF. */
  pages?: number;
  image?: { bytes: Uint8Array; mediaType: string; width?: number; height?: number };
  /** Sentences for the model, each about something that is not shown. */
  notes: string[];
}

/** How a download is shown. */
export interface ContentOptions {
  /** The source, rather than what a reader sees of it. */
  raw: boolean;
  maxImageBytes: number;
  signal: AbortSignal;
}

const MAX_JSON_CHARS = 5_000_000;

/** Turns a download into what the model is shown. @throws the reason of the signal */
export async function contentOf(download: Download, options: ContentOptions): Promise<PageContent> {
  const { essence, charset: header } = parseMediaType(download.headers.get('content-type'));
  const { kind, mediaType } = await kindOfBody(download.bytes, essence);
  const notes = download.isPartial
    ? [`The server has more: only the first ${download.bytes.byteLength} bytes were downloaded.`]
    : [];
  const base = { kind, mediaType, notes };
  if (kind === 'pdf') return pdfContent(base, download, options.signal);
  if (kind === 'image') return imageContent(base, download, options.maxImageBytes);
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
  if (kind === 'json' && !options.raw) return { ...base, charset, text: prettyJson(text) };
  if (text.trim() === '') notes.push('It is empty.');
  if (kind !== 'html' || options.raw) return { ...base, charset, text: text.trimEnd() };
  return { ...base, charset, ...(await htmlContent(text, download.url, notes)) };
}

async function htmlContent(html: string, url: string, notes: string[]) {
  const page = await scanHtml(html, new URL(url));
  const { markdown, extraction, byline } = await htmlToMarkdown(page);
  const { markup: _, outline: __, isCut, ...facts } = page;
  if (isCut) notes.push('The page is nested too deeply: the rest of it is not shown.');
  if (markdown === '' && html.trim() !== '') {
    notes.push('The page has no visible text; it may need JavaScript, which is not run.');
  } else if (extraction === 'text') {
    notes.push('The page is too complex for Markdown, and is shown as text.');
  }
  return { ...(byline !== undefined && { byline }), ...facts, text: markdown, extraction };
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

/** What is no JSON after all is shown as it is. */
function prettyJson(text: string): string {
  if (text.length > MAX_JSON_CHARS) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
