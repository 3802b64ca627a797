import type { FilteringProxyOptions } from './filtering-proxy-api.js';

/** The options that all requests and tunnels of a proxy share. */
export interface ProxyContext
  extends Pick<FilteringProxyOptions, 'guard' | 'onAccess' | 'onSpend'> {
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Aborted when the proxy is closed. */
  readonly signal: AbortSignal;
}
