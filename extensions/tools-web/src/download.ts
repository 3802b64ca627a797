import type { Turns } from '@ethosagent/policy';
import { EthosError, errorCodeOf, type ScopedFetch } from '@ethosagent/types';
import type { Answer, HttpCache } from './http-cache.js';
import { readBody } from './read-body.js';

/** A redirect that was followed. */
export interface Redirect {
  /** The URL that redirected. */
  url: string;
  status: number;
}

/** The answer after all redirects. */
export interface Download extends Answer {
  /** The URL that the answer came from, after redirects. */
  url: string;
  redirects: Redirect[];
  /** Whether the body is only the beginning of the server's answer. */
  isPartial: boolean;
  cache: 'miss' | 'fresh' | 'revalidated';
}

/** How to download a URL. */
export interface DownloadOptions {
  fetch: ScopedFetch;
  /** Limits the requests of one session to one host at a time. */
  turns: Turns;
  /** When absent, no answer is kept or reused. */
  cache?: HttpCache | undefined;
  /** The headers to send, with names in lower case. */
  headers: Record<string, string>;
  signal: AbortSignal;
  maxBytes: number;
  /** Ask the server even when the cache has a fresh answer. */
  fresh: boolean;
  onProgress?: (bytes: number, total: number | undefined) => void;
  /** Requests of one session do not wait for those of another. */
  sessionId: string;
  /** Called before each wait for a turn, and before each request. */
  onStage?: (stage: 'waiting' | 'asking') => void;
}

const MAX_REDIRECTS = 5;
// The fetch standard refuses this in the default mode, so no request is ever sent.
const ONLY_IF_CACHED = { cache: 'only-if-cached' } as const;
const REDIRECT_STATUS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

type OneAnswer = Answer & Pick<Download, 'isPartial' | 'cache'>;

/**
 * Downloads a URL through the cache. It follows redirects itself, so that it can report each of
 * them, and keep each for as long as its own headers allow.
 *
 * @throws `TOO_MANY_REDIRECTS`, `NETWORK_FAILED` for a malformed redirect, and the errors of
 *   `ScopedFetch.fetch`
 */
export async function download(start: URL, options: DownloadOptions): Promise<Download> {
  const redirects: Redirect[] = [];
  let url = start;
  for (;;) {
    const answer = await answerOf(withoutFragment(url), options);
    const target = redirectTarget(answer, url);
    if (target === undefined) return { ...answer, url: url.href, redirects };
    if (redirects.length === MAX_REDIRECTS) {
      throw new EthosError('TOO_MANY_REDIRECTS', `more than ${MAX_REDIRECTS} redirects`);
    }
    redirects.push({ url: url.href, status: answer.status });
    if (target.hash === '') target.hash = url.hash;
    url = target;
  }
}

async function answerOf(url: string, options: DownloadOptions): Promise<OneAnswer> {
  const { cache, headers } = options;
  const hit = await orNothing(cache?.find(url, headers));
  if (hit?.isFresh && !options.fresh) {
    await assertReachable(url, options);
    return { ...hit.answer, isPartial: false, cache: 'fresh' };
  }
  const sent = hit?.revalidationHeaders ?? headers;
  const answer = await ask(url, sent, options);
  if (answer.status === 304 && hit !== undefined) {
    const kept = await orNothing(hit.revalidated(answer));
    if (kept !== undefined) return { ...kept, isPartial: false, cache: 'revalidated' };
    // The server's answer does not belong to the stored answer.
    return { ...(await ask(url, headers, options)), cache: 'miss' };
  }
  if (!answer.isPartial) await orNothing(cache?.store(url, headers, answer));
  return { ...answer, cache: 'miss' };
}

async function ask(
  url: string,
  headers: Record<string, string>,
  { fetch, turns, signal, maxBytes, onProgress, sessionId, onStage }: DownloadOptions,
): Promise<Answer & { isPartial: boolean }> {
  onStage?.('waiting');
  const request = async () => {
    onStage?.('asking');
    const response = await fetch.fetch(url, { headers, signal, redirect: 'manual' });
    const body = await readBody(response, { maxBytes, ...(onProgress && { onProgress }) });
    return { status: response.status, headers: response.headers, ...body };
  };
  return turns.run(JSON.stringify([sessionId, new URL(url).host]), request, signal);
}

/**
 * Refuses an answer from the cache when its host is no longer allowed. It makes a request that
 * `fetch` never sends. The guard checks the URL first, so the kind of the refusal tells whether the
 * host is still allowed.
 *
 * @throws `HOST_NOT_ALLOWED`, or another error that forbids the request
 */
async function assertReachable(
  url: string,
  { fetch, headers, signal }: DownloadOptions,
): Promise<void> {
  try {
    const response = await fetch.fetch(url, {
      ...ONLY_IF_CACHED,
      headers,
      signal,
      redirect: 'manual',
    });
    await response.body?.cancel();
  } catch (error) {
    if (errorCodeOf(error) !== 'NETWORK_FAILED') throw error;
  }
}

// If the cache fails or is full, the page is fetched without it.
async function orNothing<T>(access: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await access;
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'CALL_ENDED' || code === 'AUDIT_FAILED') throw error;
    return undefined;
  }
}

function redirectTarget(answer: Answer, from: URL): URL | undefined {
  const location = answer.headers.get('location');
  if (!REDIRECT_STATUS.has(answer.status) || location === null) return undefined;
  // Header values come as latin1; what isn't ASCII is UTF-8 in practice.
  const text = Buffer.from(location, 'latin1').toString('utf8');
  if (!URL.canParse(text, from.href)) {
    throw new EthosError('NETWORK_FAILED', `${from.host} redirects to a malformed URL`);
  }
  return new URL(text, from);
}

function withoutFragment(url: URL): string {
  const copy = new URL(url);
  copy.hash = '';
  return copy.href;
}
