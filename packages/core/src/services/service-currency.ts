import { isDeepStrictEqual } from 'node:util';
import type { NetworkPolicy } from '@ethosagent/types';
import type { ResolveContext } from '../capabilities/capability-call.js';
import type { CapabilityPlan } from '../capability-resolver.js';
import type { PolicyAtOnce } from '../personality-policy.js';

/**
 * Tells whether a service would get the same grant if it were opened now, under the present policy
 * of the personality and the policy of a turn.
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
  // A copy: an operator may change the object in place.
  const given = structuredClone(grantUnder(ctx.networkPolicy, opened));
  return (networkPolicy) => {
    try {
      return isDeepStrictEqual(given, grantUnder(networkPolicy, plan.policyOf(owner)));
    } catch {
      // If the grant can't be worked out, it counts as changed.
      return false;
    }
  };
}
