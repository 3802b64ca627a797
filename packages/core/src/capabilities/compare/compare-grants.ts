import { CAPABILITIES } from '@ethosagent/types';
import type { ResolvedGrant } from '../resolved-grant.js';
import { COMPARISONS } from './comparisons.js';
import type { GrantChange } from './grant-change.js';

type Part = keyof typeof COMPARISONS;

/** The capabilities in the order of messages, and then what is not one. */
const PARTS: readonly Part[] = [
  ...Object.keys(CAPABILITIES).filter(isPart),
  ...Object.keys(COMPARISONS)
    .filter((key) => !Object.hasOwn(CAPABILITIES, key))
    .filter(isPart),
];

function isPart(key: string): key is Part {
  return Object.hasOwn(COMPARISONS, key);
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
  return PARTS.flatMap((capability) => {
    const compare = COMPARISONS[capability];
    return [
      ...compare(before, after).map((gained) => ({
        kind: 'widened' as const,
        capability,
        ...gained,
      })),
      ...compare(after, before).map((lost) => ({ kind: 'narrowed' as const, capability, ...lost })),
    ];
  });
}
