import { z } from 'zod';
import { type HtmlPage, pageOf } from './html-page.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import type { Reading } from './reading.js';
import { readNow } from './reading.js';
import { runThread } from './run-thread.js';
import { scanHtml } from './scan-html.js';

/**
 * A page up to this size is converted in this thread, because that is faster than starting another.
 */
export const SMALL_PAGE = { chars: 10_000, depth: 24 } as const;

const LIMITS = { chars: 20_000_000, heapMb: 384 };

// The work on a page is limited. The call has a time limit of its own, and its end ends the reading.
const TIMEOUT_MS = 600_000;

const fact = z.string().exactOptional();
const htmlPage = z.object({
  text: z.string(),
  extraction: z.enum(['article', 'page', 'text', 'feed']),
  links: z.array(z.object({ text: z.string(), url: z.string() })),
  linkCount: z.int(),
  isCut: z.boolean(),
  title: fact,
  byline: fact,
  siteName: fact,
  canonicalUrl: fact,
  language: fact,
  publishedAt: fact,
  description: fact,
});

const PROGRAM = `
const { workerData } = require('node:worker_threads');
const { loader, module } = workerData;
(async () => {
  if (loader !== undefined) (await import(loader)).register();
  await import(module);
})();
`;

/** How to read a page or a document. */
export interface ReadOptions {
  signal: AbortSignal;
  /** Milliseconds after which the page is shown as plain text. */
  timeoutMs?: number;
}

/**
 * Converts HTML to Markdown, or to plain text when Markdown takes too much work or memory. All but
 * small pages are converted in a thread.
 *
 * @param options `url` is where the page came from
 * @returns the page; `undefined` when even plain text takes too much
 * @throws the reason of `signal`
 */
export async function readHtml(
  html: string,
  { url, ...options }: ReadOptions & { url: string },
): Promise<HtmlPage | undefined> {
  if (html.length <= SMALL_PAGE.chars) {
    const page = await scanHtml(html, new URL(url));
    if (page.depth <= SMALL_PAGE.depth) return pageOf(page, await htmlToMarkdown(page));
  }
  const read = await readInThread(
    { kind: 'html', text: html.slice(0, LIMITS.chars), url },
    options,
  );
  return read && { ...read, isCut: read.isCut || html.length > LIMITS.chars };
}

/**
 * Renders a feed as a list; `undefined` when it isn't one or is too large.
 *
 * @throws the reason of `signal`
 */
export async function readFeedText(
  text: string,
  { url, ...options }: ReadOptions & { url: string },
): Promise<HtmlPage | undefined> {
  const job: Reading = { kind: 'feed', text: text.slice(0, LIMITS.chars), url };
  return text.length <= SMALL_PAGE.chars ? readNow(job) : readInThread(job, options);
}

/**
 * Reads a Word document; `undefined` when it isn't one or is too large.
 *
 * @throws the reason of `signal`
 */
export async function readDocx(
  bytes: Uint8Array,
  { url, ...options }: ReadOptions & { url: string },
): Promise<HtmlPage | undefined> {
  return readInThread({ kind: 'docx', bytes: new Uint8Array(bytes), url }, options);
}

async function readInThread(
  job: Reading,
  { signal, timeoutMs = TIMEOUT_MS }: ReadOptions,
): Promise<HtmlPage | undefined> {
  const { value } = await runThread(
    {
      program: PROGRAM,
      data: threadModule(),
      message: job,
      heapMb: LIMITS.heapMb,
      timeoutMs,
    },
    signal,
  );
  return htmlPage.safeParse(value).data;
}

/**
 * Finds the module of the thread, beside this one. In tests it is TypeScript, which needs a loader.
 */
function threadModule(): { module: string; loader?: string } {
  const module = (ending: string) => new URL(`./html-thread.${ending}`, import.meta.url).href;
  return import.meta.url.endsWith('.ts')
    ? { module: module('ts'), loader: import.meta.resolve('tsx/esm/api') }
    : { module: module('js') };
}
