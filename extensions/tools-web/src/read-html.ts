import { z } from 'zod';
import { type HtmlPage, pageOf } from './html-page.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import type { Reading } from './reading.js';
import { readNow } from './reading.js';
import { runThread } from './run-thread.js';
import { scanHtml } from './scan-html.js';

/** A smaller page is converted in this thread: that is faster than the start of another one. */
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

/** How something is read. */
export interface ReadOptions {
  signal: AbortSignal;
  /** Milliseconds after which it is shown as text. */
  timeoutMs?: number;
}

/**
 * HTML as Markdown, or as text where that takes too much work or memory. All but small pages are
 * read in a thread.
 *
 * @param options `url`: where the page came from
 * @returns `undefined` for a page that even as text is too much
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

/** A feed as a list; `undefined` for what is none, or too much. @throws the reason of `signal` */
export async function readFeedText(
  text: string,
  { url, ...options }: ReadOptions & { url: string },
): Promise<HtmlPage | undefined> {
  const job: Reading = { kind: 'feed', text: text.slice(0, LIMITS.chars), url };
  return text.length <= SMALL_PAGE.chars ? readNow(job) : readInThread(job, options);
}

/** A Word document; `undefined` for what is none, or too much. @throws the reason of `signal` */
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

/** The module of the thread, beside this one. In tests it is TypeScript, and the thread needs a loader for it. */
function threadModule(): { module: string; loader?: string } {
  const module = (ending: string) => new URL(`./html-thread.${ending}`, import.meta.url).href;
  return import.meta.url.endsWith('.ts')
    ? { module: module('ts'), loader: import.meta.resolve('tsx/esm/api') }
    : { module: module('js') };
}
