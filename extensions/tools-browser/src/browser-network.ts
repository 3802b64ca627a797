import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { oneLine, takeStart } from '@ethosagent/policy';
import type { Tool, ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { onPage, type PageCall } from './call-browser.js';
import { shownBody, shownUrl } from './hidden-tokens.js';
import { hidingValues } from './hidden-values.js';
import type { NetworkEntry } from './network-log.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';

const BODY_CHARS = 10_000;
const LOOKED_AT_CHARS = 1_000_000;
/** Types of resources that seldom matter. */
const STATIC: ReadonlySet<string> = new Set(['font', 'image', 'media', 'script', 'stylesheet']);
const READABLE = /^(?:text\/|application\/(?:[\w.+-]*json|[\w.+-]*xml|x-www-form-urlencoded))/i;
/** The headers that are shown. None of them has credentials. */
const HEADERS = ['content-type', 'content-length', 'cache-control', 'last-modified', 'retry-after'];

const input = z.object({
  filter: z.string().max(200).optional().describe('Only addresses that have this text.'),
  all: z
    .boolean()
    .default(false)
    .describe(
      'Also list requests of other pages and tabs, and images, scripts, styles and fonts that were loaded.',
    ),
  limit: z.int().min(1).max(300).default(50).describe('How many to list at most: the last ones.'),
  request: z
    .int()
    .min(1)
    .optional()
    .describe('Show only the request with this number in the list, with the text of its answer.'),
});

/** Creates `browser_network`, which lists the requests of the pages, or shows one of them. */
export function createBrowserNetworkTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: 'browser_network',
    description:
      'List the requests of the page since it was opened, or show one with the text of its answer. Cookies, authorization and everything that looks like a token are left out.',
    input,
    capabilities: {},
    effects: [],
    async execute({ filter, all, limit, request }, ctx) {
      if (ctx.dryRun) return wouldDo('list the requests', 'if a page is open');
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async (call) => {
        const { network, secrets } = call.session;
        if (request !== undefined) {
          const entry = network.entries.find(({ number }) => number === request);
          if (entry !== undefined) return showOne(call, entry);
          return err(`There is no request ${request}, or no longer. List them first.`);
        }
        const shown = network.entries
          .filter((entry) => all || (isTelling(entry) && network.isOfPage(entry, call.page)))
          .map((entry) => factsOf(entry, secrets))
          .filter(({ url }) => filter === undefined || url.includes(filter));
        const last = shown.slice(-limit);
        const lines = last.map((facts) => `${facts.number}. ${lineOf(facts)}`);
        if (shown.length > last.length) lines.unshift(`[${shown.length - last.length} before]`);
        return ok(lines.join('\n') || 'No such requests.', {
          structured: { requests: last, dropped: network.dropped },
        });
      });
    },
  });
}

function isTelling({ request, status, failure }: NetworkEntry): boolean {
  const came = failure === undefined && (status === undefined || status < 400);
  return !came || !STATIC.has(request.resourceType());
}

function factsOf({ number, request, status, failure }: NetworkEntry, secrets: readonly string[]) {
  return {
    number,
    method: oneLine(request.method(), 20),
    url: oneLine(shownUrl(request.url(), secrets), 300),
    type: request.resourceType(),
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { failure: oneLine(failure, 80) }),
  };
}

function lineOf({ method, url, type, status, failure }: ReturnType<typeof factsOf>): string {
  return `${method} ${url} ${failure ?? status ?? 'waiting'} ${type}`;
}

async function showOne({ session, deadline }: PageCall, entry: NetworkEntry): Promise<ToolResult> {
  const facts = factsOf(entry, session.secrets);
  const hide = (text: string) =>
    hidingValues(session.secrets)(shownBody(takeStart(text, LOOKED_AT_CHARS)));
  const lines = [lineOf(facts)];
  const sent = entry.request.postData();
  const sentType = entry.request.headers()['content-type'] ?? '';
  // In a multipart form, the name of each part is in a line of its own.
  if (sent !== null && !READABLE.test(sentType)) lines.push('sent: (not shown)');
  else if (sent !== null) lines.push(`sent: ${JSON.stringify(oneLine(hide(sent), 2_000))}`);
  const response =
    entry.status === undefined ? null : await deadline.race(entry.request.response());
  if (response !== null) {
    const headers = response.headers();
    for (const name of HEADERS) {
      const value = headers[name];
      if (value !== undefined) lines.push(`${name}: ${oneLine(value, 200)}`);
    }
    const isText = READABLE.test(headers['content-type'] ?? '');
    const body = isText ? await deadline.race(response.text().catch(() => undefined)) : undefined;
    if (body === undefined) lines.push('(no text, or no longer kept)');
    else lines.push(`came: ${JSON.stringify(takeStart(hide(body), BODY_CHARS))}`);
  }
  return ok(lines.join('\n'), { structured: facts });
}
