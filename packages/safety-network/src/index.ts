export type { LookupFunction } from './address-book.js';
export type { NetworkAccess } from './hop.js';
export type { GuardedFetchOptions, NetworkGuardOptions, NetworkLimits } from './network-guard.js';
export { createNetworkGuard, NetworkGuard } from './network-guard.js';
export type { SafeFetchOptions } from './safe-fetch.js';
export { safeFetch } from './safe-fetch.js';
