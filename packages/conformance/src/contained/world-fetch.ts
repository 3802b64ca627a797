import { plainFetch } from './plain-fetch.js';
import { ASKED_HEADER, PASS_HEADER, type WorldServer } from './world-server.js';

export interface WorldFetchOptions {
  fetch: typeof globalThis.fetch;
  /** The patterns of the hosts that the world's server plays. */
  hosts: readonly string[];
  server: WorldServer;
  canary: WorldServer;
  /** Marks requests through the context; absent for a `fetch` of the tool's own. */
  pass?: string;
  /** Returns a signal that fires when the batch has ended. */
  ended(): AbortSignal;
}

/**
 * Creates a `fetch` for a world without a network. A URL of the world is fetched directly. The
 * world's server answers for hosts that the tool may reach, and the canary for any other host.
 */
export function createWorldFetch(options: WorldFetchOptions): typeof globalThis.fetch {
  const { fetch, hosts, server, canary, pass, ended } = options;
  return async (input, init = {}) => {
    const request = input instanceof Request ? input : undefined;
    const url = new URL(request?.url ?? String(input));
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return fetch(input, init);
    const headers = new Headers(init.headers ?? request?.headers);
    if (pass !== undefined) headers.set(PASS_HEADER, pass);
    if (url.origin === server.origin || url.origin === canary.origin) {
      return fetch(request ?? url, { ...init, headers });
    }
    headers.set(ASKED_HEADER, url.href);
    const target = hosts.some((host) => covers(host, url)) ? server : canary;
    const path = new URL(`${url.pathname}${url.search}`, target.origin);
    // A dispatcher belongs to the original host, so it can't end the request.
    const { dispatcher: _, signal, ...rest } = { dispatcher: undefined, ...init };
    const moved = new Request(request === undefined ? path : new Request(path, request), {
      ...rest,
      headers,
    });
    // A `fetch` of the tool's own follows redirects, as everywhere else.
    if (pass === undefined) return fetch(moved, signal ? { signal } : {});
    return plainFetch(moved, either(signal ?? request?.signal, ended()));
  };
}

// Node 20 may collect an `AbortSignal.any` as garbage while somebody waits for it.
function either(own: AbortSignal | null | undefined, ended: AbortSignal): AbortSignal {
  const controller = new AbortController();
  for (const signal of [own, ended]) {
    if (signal?.aborted) controller.abort(signal.reason);
    signal?.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}

// Written independently of the code that it tests.
function covers(pattern: string, { hostname, port }: URL): boolean {
  if (pattern === '*') return true;
  const host = hostname.replace(/\.$/, '');
  const wanted = pattern.toLowerCase();
  if (wanted.startsWith('*.')) return host.endsWith(wanted.slice(1));
  return wanted === host || wanted === `${host}:${port}`;
}
