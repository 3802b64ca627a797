import { assertOptions, type OptionNames } from '@ethosagent/policy';
import type { NetworkPolicy } from '@ethosagent/types';
import type { LookupFunction } from './address-book.js';
import {
  createNetworkGuard,
  type GuardedFetchOptions,
  type NetworkGuard,
} from './network-guard.js';

export interface SafeFetchOptions extends GuardedFetchOptions {
  /** The operator's policy. Without `allow`, requests may reach every public host. */
  policy?: NetworkPolicy | undefined;
  /** A `fetch` that replaces `globalThis.fetch`. Calls with it do not share connections. */
  fetch?: typeof globalThis.fetch | undefined;
  /** A resolver that replaces the system's. Calls with it do not share connections. */
  lookup?: LookupFunction | undefined;
}

const MAX_GUARDS = 32;
/**
 * Guards by policy, the least recently used first. A guard that is removed closes when it is idle.
 */
const guards = new Map<string, NetworkGuard>();

const OPTIONS: OptionNames<SafeFetchOptions> = {
  timeoutMs: true,
  maxBodyBytes: true,
  maxRedirects: true,
  onAccess: true,
  signal: true,
  idleTimeoutMs: true,
  prepare: true,
  onSpend: true,
  policy: true,
  fetch: true,
  lookup: true,
};

/**
 * Sends a request like `fetch`, within an operator's policy. It can reach every public host that
 * the policy allows, and no address that the address floor denies. Calls with equal policies share
 * connections.
 *
 * @param url an absolute http or https URL
 * @param init the same as for `NetworkGuard.fetch`
 * @param options the policy, limits in milliseconds and bytes, and callbacks
 * @returns the response of the last hop
 * @throws `CONFIG_INVALID` for an entry of `policy.deny` that can't be parsed
 * @throws the same errors as `NetworkGuard.fetch`
 * @example
 * const policy = { deny: ['*.bad.example'] };
 * const response = await safeFetch('https://api.example.com/', {}, { policy });
 */
export async function safeFetch(
  url: string | URL,
  init: RequestInit = {},
  options: SafeFetchOptions = {},
): Promise<Response> {
  assertOptions('safeFetch', options, OPTIONS);
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
