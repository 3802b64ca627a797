import type { FilteringProxy, FilteringProxyOptions } from './filtering-proxy-api.js';

/**
 * Starts an HTTP proxy that forwards only what a guard allows: requests for `http:` URLs, and
 * tunnels (`CONNECT`) for everything else. It connects to the same address that the guard has
 * checked.
 *
 * Of a tunnel, the proxy knows only the requested host and port. It does not notice TLS to another
 * name on the same server.
 *
 * @param options the guard, the place to listen, and the callbacks
 * @returns the proxy, which is listening
 * @throws `CONFIG_INVALID` if the proxy can't listen there
 */
export async function createFilteringProxy(
  options: FilteringProxyOptions,
): Promise<FilteringProxy> {
  const { startProxy } = await import('./proxy-server.js');
  return startProxy(options);
}
