import { createFilteringProxy, type NetworkGuard } from '@ethosagent/safety-network';
import { EthosError, type ServiceProxy } from '@ethosagent/types';
import type { AccessScope } from '../access.js';
import { auditedProxy } from '../audited-proxy.js';

/** A browser holds dozens of connections open at once. */
const MAX_CONNECTIONS = 512;

/** The proxy of one service, and the function that closes it. */
export interface OpenProxy {
  readonly given: ServiceProxy;
  close(): Promise<void>;
}

/** Starts a proxy on a port of 127.0.0.1. Each request and tunnel is an access of the service. */
export async function openServiceProxy(
  guard: NetworkGuard,
  scope: AccessScope,
  idleTimeoutMs: number,
): Promise<OpenProxy> {
  const proxy = await createFilteringProxy({
    ...auditedProxy(guard, scope),
    maxConnections: MAX_CONNECTIONS,
    idleTimeoutMs,
  });
  if (proxy.url === undefined) throw new EthosError('CONFIG_INVALID', 'the proxy has no port');
  const { origin, username, password } = new URL(proxy.url);
  const { mark } = proxy;
  return { given: { server: origin, username, password, mark }, close: () => proxy.close() };
}
