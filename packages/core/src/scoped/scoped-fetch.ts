import {
  createNetworkGuard,
  type LookupFunction,
  type NetworkGuard,
} from '@ethosagent/safety-network';
import type { NetworkPolicy, ScopedFetch } from '@ethosagent/types';
import { type AccessScope, assertLive } from '../access.js';
import { unawaited } from '../rejections.js';

export interface ScopedFetchOptions {
  /** The operator's policy. Without it the exact hosts of the set count as named by the operator. */
  policy?: NetworkPolicy;
  /** In place of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** In place of the system's name resolution. */
  lookup?: LookupFunction;
  /** A guard made for exactly these hosts and this policy, so that calls share its connections. */
  guard?: NetworkGuard | undefined;
  scope?: AccessScope | undefined;
}

/** Fetch, held to a host set and the address floor on every hop. */
export class ScopedFetchImpl implements ScopedFetch {
  readonly #guard: NetworkGuard;
  readonly #scope: AccessScope | undefined;

  constructor(allowedHosts: ReadonlySet<string>, options: ScopedFetchOptions = {}) {
    const { guard, scope, ...rest } = options;
    this.#guard = guard ?? createNetworkGuard({ allowedHosts, ...rest });
    this.#scope = scope;
  }

  /**
   * As WHATWG `fetch`; ends with the call.
   * @throws `HOST_NOT_ALLOWED`, `NETWORK_FAILED`, `NETWORK_TIMEOUT`, `BODY_TOO_LARGE`,
   * `TOO_MANY_REDIRECTS`, or an `AbortError`
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response> {
    return unawaited(this.#fetch(url, init));
  }

  async #fetch(url: string | URL, init?: RequestInit): Promise<Response> {
    const scope = this.#scope;
    if (scope === undefined) return this.#guard.fetch(url, init);
    assertLive(scope, { capability: 'network', operation: 'fetch', target: targetOf(url) });
    return this.#guard.fetch(url, init, {
      signal: scope.signal,
      onAccess: ({ url: target, decision, rule }) =>
        scope.record({ capability: 'network', operation: 'fetch', target, decision, reason: rule }),
    });
  }
}

// Without the query, which may hold a secret.
function targetOf(url: string | URL): string {
  if (!URL.canParse(String(url))) return 'an invalid URL';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
