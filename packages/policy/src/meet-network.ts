import type { NetworkPolicy } from '@ethosagent/types';
import { hostMeets } from './host-meets.js';
import { meetHostLists } from './host-sets.js';
import { type HostPattern, parseHostPattern } from './hosts.js';
import { isPrivateMachine, isServicePort } from './network-consents.js';

/**
 * What both policies allow.
 *
 * @param a `undefined` allows no more than `b`
 * @param b `undefined` allows no more than `a`
 * @returns the policy; `undefined` when both are absent
 */
export function meetNetworkPolicies(
  a: NetworkPolicy | undefined,
  b: NetworkPolicy | undefined,
): NetworkPolicy | undefined {
  if (a === undefined && b === undefined) return undefined;
  const allow = meetAllowLists(a ?? {}, b ?? {});
  const deny = [...new Set([...(a?.deny ?? []), ...(b?.deny ?? [])])];
  // Without a list, a declared `*` covers no host. A list alone can't express that.
  const declaredOnly =
    a?.declared_only === true ||
    b?.declared_only === true ||
    (a?.allow === undefined) !== (b?.allow === undefined);
  return {
    ...(allow !== undefined && { allow }),
    ...(deny.length > 0 && { deny }),
    ...(a?.allow_private_urls === true &&
      b?.allow_private_urls === true && { allow_private_urls: true }),
    ...(declaredOnly && { declared_only: true }),
  };
}

function meetAllowLists(a: NetworkPolicy, b: NetworkPolicy): string[] | undefined {
  if (a.allow === undefined && b.allow === undefined) return undefined;
  // Here, a missing list stands for any host.
  const left = parsed(a.allow ?? ['*']);
  const right = parsed(b.allow ?? ['*']);
  const plain: string[] = [];
  const naming = new Set<string>();
  for (const { one, other, meet } of hostMeets(left, right)) {
    if (!isConsent(meet)) plain.push(meet.text);
    // An entry for a private machine or for a port of another service opens it. Both lists must
    // have named it.
    else if (opens(one, a, meet) && opens(other, b, meet)) naming.add(meet.text);
  }
  // Such entries stay beside a wider entry, since the wider one would not open the machine or the
  // port.
  return [...new Set([...meetHostLists(plain, ['*']), ...naming])].sort();
}

function opens(entry: HostPattern, policy: NetworkPolicy, meet: HostPattern): boolean {
  const machine = !isPrivateMachine(meet) || policy.allow_private_urls || entry.kind === 'exact';
  return machine === true && (!isServicePort(meet) || entry.port !== undefined);
}

/** Whether an entry opens something that a wider entry for the same host would not open. */
function isConsent(pattern: HostPattern): boolean {
  return isPrivateMachine(pattern) || isServicePort(pattern);
}

function parsed(patterns: readonly string[]): HostPattern[] {
  return patterns.flatMap((pattern) => parseHostPattern(pattern) ?? []);
}
