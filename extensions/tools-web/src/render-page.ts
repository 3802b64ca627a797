import { cutPage } from './cut-page.js';
import type { Download } from './download.js';
import { oneLine } from './one-line.js';
import type { PageContent } from './page-content.js';
import { createCursor } from './page-cursor.js';
import type { PageFacts } from './page-facts.js';

/** Which part of a page is shown, and how. */
export interface PageView {
  requestedUrl: string;
  raw: boolean;
  /** Where the shown part begins; 0 for the beginning of the page. */
  offset: number;
  /** How many characters the value may have, with its head and foot. */
  maxChars: number;
  notes: readonly string[];
}

// Room for the last lines. The cursor is the longest of them.
const FOOT_CHARS = 400;
const MIN_TEXT_CHARS = 200;
const MAX_SHOWN_URL = 500;
const MAX_FACT_CHARS = 500;
const FACTS = [
  'title',
  'byline',
  'siteName',
  'canonicalUrl',
  'language',
  'publishedAt',
  'description',
] as const satisfies ReadonlyArray<keyof PageFacts>;

/** Renders a page: the text for the model, and `structured`, with more facts, for programs. */
export function renderPage(
  { url, redirects, status, bytes, cache }: Download,
  page: PageContent,
  { requestedUrl, raw, offset, maxChars, notes }: PageView,
): { value: string; structured: Record<string, unknown> } {
  const content = inLines(page);
  const head = offset === 0 ? headOf(url, redirects.length, content) : [];
  const { text = '', notes: contentNotes, ...facts } = content;
  const said = [...notes, ...contentNotes].map((note) => `[${note}]`);
  const taken = [...head, ...said].join('\n').length + FOOT_CHARS;
  const room = Math.max(maxChars - taken, MIN_TEXT_CHARS);
  const { start, end } = cutPage(text, offset, room);
  const nextCursor =
    end < text.length ? createCursor({ url: requestedUrl, raw, text }, end) : undefined;
  const foot =
    nextCursor === undefined
      ? []
      : [
          `[characters ${start + 1} to ${end} of ${text.length}; to read on, call again with cursor "${nextCursor}"]`,
        ];
  const value = [head.join('\n'), text.slice(start, end).trimEnd(), [...said, ...foot].join('\n')]
    .filter((part) => part !== '')
    .join('\n\n');
  return {
    value,
    structured: {
      url,
      requestedUrl,
      redirects,
      status,
      cache,
      sizeBytes: bytes.byteLength,
      ...facts,
      notes: [...notes, ...contentNotes],
      totalChars: text.length,
      startChar: start,
      endChar: end,
      ...(nextCursor !== undefined && { nextCursor }),
    },
  };
}

/**
 * Puts each fact of a page on one line. Otherwise a title with a line break could have a second
 * line that looks like a line of the tool.
 */
function inLines(content: PageContent): PageContent {
  const plain = {
    ...content,
    notes: content.notes.map((note) => oneLine(note, MAX_FACT_CHARS)),
  };
  for (const name of FACTS) {
    const line = oneLine(content[name] ?? '', MAX_FACT_CHARS);
    if (line === '') delete plain[name];
    else plain[name] = line;
  }
  return plain;
}

function headOf(url: string, redirects: number, content: PageContent): string[] {
  const { title, byline, siteName, publishedAt, kind, mediaType, image, pages } = content;
  const lines: string[] = [];
  if (title !== undefined) lines.push(`Title: ${title}`);
  const from =
    redirects === 0 ? '' : redirects === 1 ? ' (redirected)' : ` (${redirects} redirects)`;
  lines.push(`URL: ${url.slice(0, MAX_SHOWN_URL)}${from}`);
  const about = [byline && `by ${byline}`, siteName, publishedAt].filter(Boolean);
  if (about.length > 0) lines.push(`About: ${about.join(', ')}`);
  if (kind !== 'html') {
    const size = image?.width === undefined ? '' : `, ${image.width} × ${image.height} pixels`;
    const count = pages === undefined ? '' : `, ${pages} page${pages === 1 ? '' : 's'}`;
    lines.push(`Type: ${mediaType}${size}${count}`);
  }
  return lines;
}
