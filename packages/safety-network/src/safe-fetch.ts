import type { NetworkPolicy } from '@ethosagent/types';
import type { LookupFunction } from './address-book.js';
import {
  createNetworkGuard,
  type GuardedFetchOptions,
  type NetworkGuard,
} from './network-guard.js';

export interface SafeFetchOptions extends GuardedFetchOptions {
  /** Without `allow`, every public host may be reached. */
  policy?: NetworkPolicy | undefined;
  /** Another `fetch` than `globalThis.fetch`. Connections are then not shared between calls. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Another resolver than the system's. Connections are then not shared between calls. */
  lookup?: LookupFunction | undefined;
}

const MAX_GUARDS = 32;
/**
 * Guards by policy, the least recently used first. A guard that is removed closes when it is idle.
 */
const guards = new Map<string, NetworkGuard>();

/**
 * `fetch` under an operator's policy: any public host that the policy allows, and never an
 * address below the floor. Calls with equal policies share connections.
 *
 * @param url absolute
 * @param init as for `fetch`
 * @param options the policy, limits in milliseconds and bytes, and hooks of the caller
 * @returns the response of the last hop
 * @throws as `NetworkGuard.fetch`
 * @throws `CONFIG_INVALID` for a deny rule that does not parse
 * @example
 * const response = await safeFetch('https://api.example.com/', {}, { policy: { deny: ['*.bad.example'] } });
 */
export async function safeFetch(
  url: string | URL,
  init: RequestInit = {},
  options: SafeFetchOptions = {},
): Promise<Response> {
  const { policy, fetch, lookup, ...call } = options;
  const guard = fetch || lookup ? createGuard(policy, { fetch, lookup }) : sharedGuard(policy);
  return guard.fetch(url, init, call);
}

function sharedGuard(policy: NetworkPolicy = {}): NetworkGuard {
  const { allow, deny, allow_private_urls } = policy;
  const key = JSON.stringify([allow ?? null, deny ?? [], allow_private_urls === true]);
  const guard = guards.get(key) ?? createGuard(policy, {});
  guards.delete(key);
  guards.set(key, guard);
  for (const oldest of guards.keys()) {
    if (guards.size <= MAX_GUARDS) break;
    guards.delete(oldest);
  }
  return guard;
}

function createGuard(
  policy: NetworkPolicy = {},
  options: Pick<SafeFetchOptions, 'fetch' | 'lookup'>,
): NetworkGuard {
  return createNetworkGuard({ allowedHosts: policy.allow ?? ['*'], policy, ...options });
}
