import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { assertOptions, type OptionNames, Turns } from '@ethosagent/policy';
import type { KeyValueStore, ScopedFetch, Tool, ToolContext, ToolResult } from '@ethosagent/types';
import { ContentCache, contentKey } from './content-cache.js';
import { createDeadline } from './deadline.js';
import { type Download, download } from './download.js';
import { downloadProgress } from './download-progress.js';
import { fetchFailure } from './fetch-failure.js';
import { type FetchArgs, type FetchSettings, fetchInput, fetchSettings } from './fetch-input.js';
import { HttpCache } from './http-cache.js';
import { statusFailure } from './http-status.js';
import { codingLeft } from './packed-body.js';
import { contentOf } from './page-content.js';
import { parseCursor, placeOfCursor } from './page-cursor.js';
import { renderPage } from './render-page.js';

/** Options of `createFetchUrlTool`. */
export interface FetchUrlOptions {
  /** How many requests of one session to one host run at the same time. 4 when absent. */
  maxRequestsPerHost?: number;
}

type FetchContext = Pick<
  ToolContext,
  | 'abortSignal'
  | 'dryRun'
  | 'emit'
  | 'networkPolicy'
  | 'personalityId'
  | 'resultBudgetChars'
  | 'sessionId'
> & { scopedFetch: ScopedFetch; kvStore: KeyValueStore; settings: FetchSettings };

/** The state that all calls of a tool share. */
interface Shared {
  turns: Turns;
  contents: ContentCache;
}

const NAME = 'fetch_url';
const USER_AGENT = 'Mozilla/5.0 (compatible; ethosagent-fetch/0.1)';
const ACCEPT =
  'text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/json;q=0.9,application/pdf;q=0.8,image/*;q=0.7,*/*;q=0.5';

/** The message when the time is up, by the step that was running. */
const OUT_OF_TIME: Record<'waiting' | 'asking' | 'reading', (host: string, ms: number) => string> =
  {
    waiting: (host, ms) =>
      `${host} was not asked: earlier requests of this session to it took all of the ${ms} ms. Call again when they have ended.`,
    asking: (host, ms) =>
      `${host} did not answer in full within ${ms} ms. Try once more later, or use another source.`,
    reading: (host, ms) =>
      `The answer of ${host} came, but could not be made readable within ${ms} ms. Call again with raw, for its source.`,
  };

const OPTIONS: OptionNames<FetchUrlOptions> = {
  maxRequestsPerHost: true,
};

/**
 * Creates `fetch_url`, which shows a web page or a file from the web. Needs `network` with `*`, and
 * `storage` with scope `tool-private` for the answers that HTTP allows it to keep.
 *
 * @param options how many requests to one host run at the same time; 4 when absent
 * @returns the tool, ready to register
 */
export function createFetchUrlTool(options: FetchUrlOptions = {}): Tool<FetchArgs> {
  assertOptions('createFetchUrlTool', options, OPTIONS);
  const { maxRequestsPerHost = 4 } = options;
  const shared = { turns: new Turns(maxRequestsPerHost), contents: new ContentCache() };
  return defineTool({
    name: NAME,
    description:
      'Read a page of the web. HTML is shown as Markdown of its main content, with formulas as TeX; a feed as a list; JSON indented; PDF and Word documents as text; of other files only type and size. Long pages come in parts: a last line in brackets says how to read on. No scripts are run, and nothing is sent except the request.',
    toolset: 'web',
    input: fetchInput,
    settings: fetchSettings,
    capabilities: {
      network: { allowedHosts: ['*'] },
      storage: { scope: 'tool-private', kind: 'kv', concurrency: 'parallel' },
    },
    outputIsUntrusted: true,
    supportsDryRun: true,
    execute: (args, ctx) => fetchUrl(args, ctx, shared),
  });
}

/**
 * `fetch_url` with up to four requests to one host at a time. Needs `network` with `*`, and
 * `storage` with scope `tool-private`.
 */
export const fetchUrlTool: Tool<FetchArgs> = createFetchUrlTool();

async function fetchUrl(
  args: FetchArgs,
  ctx: FetchContext,
  { turns, contents }: Shared,
): Promise<ToolResult> {
  const { cursor, url } = args;
  if (cursor !== undefined && parseCursor(cursor) === undefined) return wrongCursor();
  if (ctx.dryRun) {
    const { href, host } = new URL(url);
    return ok(`[dry-run] Would request ${href} from ${host}, if it is among the allowed hosts.`, {
      untrusted: false,
    });
  }
  const deadline = createDeadline(ctx.abortSignal, ctx.settings.timeout_ms);
  let stage: keyof typeof OUT_OF_TIME = 'asking';
  try {
    const got = await download(new URL(url), {
      fetch: ctx.scopedFetch,
      turns,
      cache: ctx.settings.cache ? cacheOf(ctx) : undefined,
      headers: headersOf(ctx.settings),
      signal: deadline.signal,
      maxBytes: ctx.settings.max_download_bytes,
      fresh: args.fresh,
      onProgress: downloadProgress(NAME, new URL(url).host, ctx.emit),
      sessionId: ctx.sessionId,
      onStage: (now) => {
        stage = now;
      },
    });
    stage = 'reading';
    return await show(got, { args, ctx, contents, signal: deadline.signal });
  } catch (error) {
    if (deadline.isOver) {
      const text = OUT_OF_TIME[stage](new URL(url).host, ctx.settings.timeout_ms);
      return err(text, 'execution_failed', 'CALL_TIMED_OUT');
    }
    const failure = fetchFailure(error);
    if (failure === undefined) throw error;
    return failure;
  } finally {
    deadline.clear();
  }
}

interface ShowOptions {
  args: FetchArgs;
  ctx: FetchContext;
  contents: ContentCache;
  signal: AbortSignal;
}

async function show(
  got: Download,
  { args, ctx, contents, signal }: ShowOptions,
): Promise<ToolResult> {
  const { settings } = ctx;
  const isPart = got.status === 206;
  if (isPart || got.status >= 300 || got.status < 200) return statusFailure(got);
  const coding = codingLeft(got);
  if (coding !== undefined) {
    const { host } = new URL(got.url);
    return err(
      `${host} packed its answer in a way that was not asked for and can not be unpacked (${coding}). Use another source.`,
    );
  }
  const key = contentKey(got, args.raw);
  const options = { raw: args.raw, maxImageBytes: settings.max_image_bytes, signal };
  const content = contents.get(key) ?? (await contentOf(got, options));
  contents.set(key, content);
  const notes: string[] = [];
  let offset = 0;
  if (args.cursor !== undefined) {
    const text = content.text ?? '';
    const place = placeOfCursor(args.cursor, { url: args.url, raw: args.raw, text });
    if (place.is === 'of another text') {
      return err(
        'The page has changed since the cursor was given. Call again without a cursor, to read it from the beginning.',
      );
    }
    if (place.is !== 'found') return wrongCursor();
    offset = place.offset;
    if (place.hasChangedSince) notes.push('The rest of the page has changed since its last part.');
  }
  const maxChars = Math.min(args.max_chars ?? settings.max_chars, ctx.resultBudgetChars);
  const view = { requestedUrl: args.url, raw: args.raw, offset, maxChars, notes };
  const { value, structured } = renderPage(got, content, view);
  return ok(value, { structured });
}

function wrongCursor(): ToolResult {
  return err(
    'cursor: expected one from the end of an answer for the same url and raw. Leave it out to read from the beginning.',
    'input_invalid',
  );
}

/**
 * Returns the cache of a personality and its network policy. A personality with another reach must
 * not see what this one fetched, and neither must the same personality after its policy changed.
 * Before each answer from the cache, the caller checks whether the host is still allowed.
 */
function cacheOf({ kvStore, personalityId, sessionId, networkPolicy }: FetchContext): HttpCache {
  const who = personalityId === undefined ? ['session', sessionId] : ['personality', personalityId];
  const { allow = null, deny = [], allow_private_urls = false } = networkPolicy ?? {};
  return new HttpCache(kvStore, JSON.stringify([...who, allow, deny, allow_private_urls]));
}

function headersOf({ accept_language, user_agent }: FetchSettings): Record<string, string> {
  return {
    accept: ACCEPT,
    'user-agent': user_agent ?? USER_AGENT,
    ...(accept_language !== undefined && { 'accept-language': accept_language }),
  };
}
