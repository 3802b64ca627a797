import { z } from 'zod';
import { type HtmlPage, pageOf } from './html-page.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import { runThread } from './run-thread.js';
import { SCAN_MAX_MS, scanHtml } from './scan-html.js';

/** What is converted at once: no page within this takes as long as a thread needs to begin. */
export const SMALL_PAGE = { chars: 10_000, depth: 24 } as const;

const LIMITS = { chars: 20_000_000, heapMb: 384 };

/** Milliseconds that a page may take: its first pass alone, and all of its reading. */
export interface HtmlTimes {
  scanMs: number;
  timeoutMs: number;
}

const TIMES: HtmlTimes = { scanMs: SCAN_MAX_MS, timeoutMs: 10_000 };

const fact = z.string().exactOptional();
const htmlPage = z.object({
  text: z.string(),
  extraction: z.enum(['article', 'page', 'text']),
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

/**
 * HTML as Markdown, or as text where that takes too much time or memory. All but small pages are
 * read in a thread of their own.
 *
 * @param options `url`: where the page came from
 * @returns `undefined` for a page that even as text is too much
 * @throws the reason of `signal`
 */
export async function readHtml(
  html: string,
  { url, signal, times = TIMES }: { url: string; signal: AbortSignal; times?: HtmlTimes },
): Promise<HtmlPage | undefined> {
  if (html.length <= SMALL_PAGE.chars) {
    const page = await scanHtml(html, new URL(url), times.scanMs);
    if (page.depth <= SMALL_PAGE.depth) return pageOf(page, await htmlToMarkdown(page));
  }
  const { value } = await runThread(
    {
      program: PROGRAM,
      data: { ...threadModule(), html: html.slice(0, LIMITS.chars), url, scanMs: times.scanMs },
      heapMb: LIMITS.heapMb,
      timeoutMs: times.timeoutMs,
    },
    signal,
  );
  const { data } = htmlPage.safeParse(value);
  return data && { ...data, isCut: data.isCut || html.length > LIMITS.chars };
}

/** The module of the thread, beside this one. Where this is TypeScript, a thread has to learn it. */
function threadModule(): { module: string; loader?: string } {
  const module = (ending: string) => new URL(`./html-thread.${ending}`, import.meta.url).href;
  return import.meta.url.endsWith('.ts')
    ? { module: module('ts'), loader: import.meta.resolve('tsx/esm/api') }
    : { module: module('js') };
}
