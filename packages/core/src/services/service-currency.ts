import { isDeepStrictEqual } from 'node:util';
import type { NetworkPolicy } from '@ethosagent/types';
import type { ResolveContext } from '../capabilities/capability-call.js';
import type { CapabilityPlan } from '../capability-resolver.js';
import type { PolicyAtOnce } from '../personality-policy.js';

/**
 * Tells whether what a service was given is what it would be given now, under the policy of the
 * personality as it is then and that of a turn.
 */
export function currency(
  plan: CapabilityPlan,
  ctx: ResolveContext,
  opened: PolicyAtOnce,
): (networkPolicy: NetworkPolicy | undefined) => boolean {
  const { networkPolicy: _, ...owner } = ctx;
  const grantUnder = (networkPolicy: NetworkPolicy | undefined, policy: PolicyAtOnce) => {
    const under = { ...owner, ...(networkPolicy !== undefined && { networkPolicy }) };
    return { grant: plan.describe(under, policy), process: policy.process };
  };
  // An operator's own object may be changed in place.
  const given = structuredClone(grantUnder(ctx.networkPolicy, opened));
  return (networkPolicy) => {
    try {
      return isDeepStrictEqual(given, grantUnder(networkPolicy, plan.policyOf(owner)));
    } catch {
      // What can't be told is not the same.
      return false;
    }
  };
}
