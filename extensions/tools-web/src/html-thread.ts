// biome-ignore lint/style/noRestrictedImports: it is run in a thread, and answers the one that began it
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { pageOf } from './html-page.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import { scanHtml } from './scan-html.js';

// The thread of `readHtml`: first the page as text, in case that the rest of it fails.
const { html, url, scanMs } = z
  .object({ html: z.string(), url: z.string(), scanMs: z.number() })
  .parse(workerData);
const page = await scanHtml(html, new URL(url), scanMs);
const asText = pageOf(page, { markdown: page.outline, extraction: 'text' });
parentPort?.postMessage({ value: asText, isLast: false });
parentPort?.postMessage({ value: pageOf(page, await htmlToMarkdown(page)), isLast: true });
