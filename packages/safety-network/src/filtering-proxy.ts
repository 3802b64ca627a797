import type { FilteringProxy, FilteringProxyOptions } from './filtering-proxy-api.js';

/**
 * An HTTP proxy that lets through what a guard lets through: requests for `http:` URLs, and tunnels
 * (`CONNECT`) for whatever else. The address that was checked is the one that is connected to.
 *
 * Nothing is known of what goes through a tunnel but the host and the port that were asked for: TLS
 * to another name on the same server is not noticed.
 *
 * @param options the guard, where to listen, and what is told of each access
 * @returns the proxy, which listens
 * @throws `CONFIG_INVALID` when it can't listen there
 */
export async function createFilteringProxy(
  options: FilteringProxyOptions,
): Promise<FilteringProxy> {
  const { startProxy } = await import('./proxy-server.js');
  return startProxy(options);
}
