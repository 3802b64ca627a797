import { openProxySocket, type ProxySocket } from '@ethosagent/process';
import { createFilteringProxy, type NetworkGuard } from '@ethosagent/safety-network';
import type { AccessScope } from '../access.js';
import { auditedProxy } from '../audited-proxy.js';

/**
 * Opens a proxy through which the sandboxes of one call send requests. Each request is an access of
 * that call.
 */
export function openWayOut(guard: NetworkGuard, scope: AccessScope): Promise<ProxySocket> {
  return openProxySocket((socketPath) =>
    createFilteringProxy({ ...auditedProxy(guard, scope), socketPath }),
  );
}
