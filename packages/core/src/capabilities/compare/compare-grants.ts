import { CAPABILITIES } from '@ethosagent/types';
import type { CapabilityKey } from '../capability-module.js';
import { CAPABILITY_MODULES } from '../index.js';
import type { ResolvedGrant } from '../resolved-grant.js';
import { compareQuotas } from './compare-quotas.js';
import type { CompareCapability, GrantChange } from './grant-change.js';

/** The parts of a grant that are not capabilities. A part that is missing here does not compile. */
const OTHER_PARTS: {
  // `secretSources` is compared together with the secrets.
  readonly [K in Exclude<
    keyof ResolvedGrant,
    CapabilityKey | 'secretSources'
  >]-?: CompareCapability;
} = { quotas: compareQuotas };

const COMPARISONS: readonly (readonly [keyof ResolvedGrant, CompareCapability])[] = [
  ...CAPABILITY_MODULES.map(({ key, compare }) => [key, compare] as const).sort(
    ([one], [other]) => placeOf(one) - placeOf(other),
  ),
  ['quotas', OTHER_PARTS.quotas],
];

/** Capabilities have the same order here as in messages. */
function placeOf(key: CapabilityKey): number {
  return Object.keys(CAPABILITIES).indexOf(key);
}

/**
 * How two grants of one tool differ in their effect. An access is `widened` if it was denied and
 * may be allowed now, or if it can't be proved that it was allowed before. How the grants are
 * written does not matter. Empty for grants that allow the same.
 *
 * @param before the grant that somebody accepted
 * @param after the present grant
 * @returns the differences, grouped by capability
 */
export function compareGrants(before: ResolvedGrant, after: ResolvedGrant): GrantChange[] {
  return COMPARISONS.flatMap(([capability, compare]) => [
    ...compare(before, after).map((gained) => ({
      kind: 'widened' as const,
      capability,
      ...gained,
    })),
    ...compare(after, before).map((lost) => ({ kind: 'narrowed' as const, capability, ...lost })),
  ]);
}
