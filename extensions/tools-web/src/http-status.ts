import { err } from '@ethosagent/plugin-sdk';
import { shorten } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import { decodeBody } from './decode-body.js';
import type { Answer } from './http-cache.js';
import { parseMediaType } from './media-type.js';
import { codingLeft } from './packed-body.js';
import { retryAfterSeconds } from './retry-after.js';
import { scanHtml } from './scan-html.js';

const MAX_EXCERPT_CHARS = 300;
const EXCERPT_FROM_BYTES = 32_768;
// The links of an excerpt are left out.
const NOWHERE = new URL('http://invalid/');
const MEANING: Readonly<Record<number, string>> = {
  206: 'the server sent only a part, though the whole page was asked for. Use another source',
  400: 'the server could not make sense of the request',
  401: 'the page wants a login, which this tool does not have. Use another source',
  402: 'the page wants to be paid for. Use another source',
  403: 'the server refuses to show it. Use another source',
  404: 'there is no such page. Check the URL, or look for the right one with a search',
  408: 'the server gave up waiting. Try once more',
  410: 'the page is gone for good',
  429: 'the server was asked too often',
  451: 'the page may not be shown for legal reasons',
};

/**
 * Returns the result for an HTTP error: the status, its meaning, and the beginning of the server's
 * text.
 */
export async function statusFailure(answer: Answer): Promise<ToolResult> {
  const { status, headers } = answer;
  const seconds = retryAfterSeconds(headers.get('retry-after'), Date.now());
  const meaning =
    MEANING[status] ?? (status >= 500 ? 'the server failed. Try once more later' : 'unexpected');
  const wait = seconds === undefined ? '' : `. Wait ${seconds} seconds before trying again`;
  const excerpt = await excerptOf(answer);
  return err(`HTTP ${status}: ${meaning}${wait}.${excerpt && ` The server says: ${excerpt}`}`);
}

async function excerptOf(answer: Answer): Promise<string> {
  if (codingLeft(answer) !== undefined) return '';
  const { bytes, headers } = answer;
  const { essence, charset } = parseMediaType(headers.get('content-type'));
  const isHtml = essence === 'text/html';
  if (!isHtml && !/^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml)$)/.test(essence)) return '';
  const { text } = await decodeBody(bytes.subarray(0, EXCERPT_FROM_BYTES), charset, isHtml);
  const shown = isHtml ? (await scanHtml(text, NOWHERE)).outline : text;
  const plain = shown.replaceAll(/\s+/g, ' ').trim();
  return shorten(plain, MAX_EXCERPT_CHARS);
}
