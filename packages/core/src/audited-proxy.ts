import type { FilteringProxyOptions, NetworkGuard } from '@ethosagent/safety-network';
import type { AccessScope } from './access.js';

/** Makes every request through a proxy an access of its call or service. */
export function auditedProxy(
  guard: NetworkGuard,
  scope: AccessScope,
): Pick<FilteringProxyOptions, 'guard' | 'onAccess' | 'onSpend'> {
  return {
    guard,
    onAccess: ({ url: target, decision, rule, entries: basis }) => {
      scope.assertLive();
      const reason = decision === 'allowed' ? `matched ${rule}` : rule;
      scope.record({ capability: 'network', operation: 'proxy', target, decision, reason, basis });
    },
    ...(scope.capsNetwork && { onSpend: (amounts) => scope.spendAll(amounts) }),
  };
}
