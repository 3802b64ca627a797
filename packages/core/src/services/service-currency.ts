import { isDeepStrictEqual } from 'node:util';
import type { NetworkPolicy } from '@ethosagent/types';
import type { CapabilityBackends } from '../backends.js';
import type { CapabilityPlan, ResolveContext } from '../capability-resolver.js';
import { personalityProcess } from '../policy-sources.js';

/**
 * Tells whether what a service was given is what it would be given now, under the policy of the
 * personality as it is then and that of a turn.
 */
export function currency(
  plan: CapabilityPlan,
  ctx: ResolveContext,
  backends: CapabilityBackends,
): (networkPolicy: NetworkPolicy | undefined) => boolean {
  const { networkPolicy: _, ...owner } = ctx;
  const grantUnder = (networkPolicy: NetworkPolicy | undefined) => ({
    grant: plan.describe({ ...owner, ...(networkPolicy !== undefined && { networkPolicy }) }),
    process: personalityProcess(backends, owner.personalityId),
  });
  // An operator's own object may be changed in place.
  const given = structuredClone(grantUnder(ctx.networkPolicy));
  return (networkPolicy) => {
    try {
      return isDeepStrictEqual(given, grantUnder(networkPolicy));
    } catch {
      // What can't be told is not the same.
      return false;
    }
  };
}
