import { z } from 'zod';
import { docxToHtml } from './docx-html.js';
import { readFeed } from './feed-list.js';
import { type HtmlPage, pageOf } from './html-page.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import { scanHtml } from './scan-html.js';

/** The input of a conversion: a page, a feed, or a Word document. */
export const reading = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['html', 'feed']), text: z.string(), url: z.string() }),
  z.object({ kind: z.literal('docx'), bytes: z.instanceof(Uint8Array), url: z.string() }),
]);

export type Reading = z.infer<typeof reading>;

/**
 * Converts a download. It makes plain text first, as a fallback if the rest fails.
 *
 * @param onText called with the plain text of a page, before its main content is searched
 * @returns the page; `undefined` when the download is not of the expected kind
 */
export async function readNow(
  job: Reading,
  onText: (page: HtmlPage) => void = () => {},
): Promise<HtmlPage | undefined> {
  const url = new URL(job.url);
  if (job.kind === 'feed') {
    try {
      return await readFeed(job.text, url);
    } catch {
      return undefined;
    }
  }
  const html = job.kind === 'docx' ? await docxToHtml(job.bytes).catch(() => undefined) : job.text;
  if (html === undefined) return undefined;
  const page = await scanHtml(html, url);
  onText(pageOf(page, { markdown: page.outline, extraction: 'text' }));
  return pageOf(page, await htmlToMarkdown(page, { isWhole: job.kind === 'docx' }));
}
