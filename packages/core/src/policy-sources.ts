import { isDeepStrictEqual } from 'node:util';
import { meetHostLists } from '@ethosagent/policy';
import type { NetworkPolicy, ProcessPolicy, QuotaPolicy } from '@ethosagent/types';
import type { CapabilityBackends, PersonalityFsReach } from './backends.js';

const NOTHING: PersonalityFsReach = { read: [], write: [] };

/** What the backends say of a personality's reach; nothing where they say nothing. */
export function personalityReach(
  backends: CapabilityBackends,
  personalityId: string | undefined,
): PersonalityFsReach {
  const source = backends.personalityFsReach;
  const reach = typeof source === 'function' ? source(personalityId) : source;
  return reach ?? NOTHING;
}

/** The caps that the backends put on a personality; `undefined` for none. */
export function personalityQuotas(
  backends: CapabilityBackends,
  personalityId: string | undefined,
): QuotaPolicy | undefined {
  const source = backends.personalityQuotas;
  return typeof source === 'function' ? source(personalityId) : source;
}

/** How the processes of a personality run; `undefined` for plain ones. */
export function personalityProcess(
  backends: CapabilityBackends,
  personalityId: string | undefined,
): ProcessPolicy | undefined {
  const source = backends.personalityProcess;
  return typeof source === 'function' ? source(personalityId) : source;
}

/** The network policy of a service that no call opens; `undefined` for none. */
export function personalityNetworkPolicy(
  backends: CapabilityBackends,
  personalityId: string | undefined,
): NetworkPolicy | undefined {
  const source = backends.personalityNetworkPolicy;
  return typeof source === 'function' ? source(personalityId) : source;
}

/** What the backends say that a personality sets under a key; `undefined` for nothing. */
export function personalityToolSettings(
  backends: CapabilityBackends,
  personalityId: string | undefined,
  key: string,
): unknown {
  return backends.personalityToolSettings?.(personalityId, key);
}

/** Where the network policy of a call comes from. */
export interface NetworkPolicySources {
  /** The personality's list; `undefined` when it has none. */
  personalityAllow: readonly string[] | undefined;
  /** The policy of the turn. */
  turn: NetworkPolicy | undefined;
}

/** Asks the backends for the personality's allow list. */
export function networkSources(
  backends: CapabilityBackends,
  personalityId: string | undefined,
  turn: NetworkPolicy | undefined,
): NetworkPolicySources {
  const source = backends.personalityNetworkAllow;
  if (typeof source !== 'function') return { personalityAllow: source, turn };
  const allow = source(personalityId);
  // A function knows every personality there is: one that it doesn't know gets nothing.
  return { personalityAllow: allow === null ? undefined : (allow ?? []), turn };
}

/**
 * The personality's allow list met with the policy of the turn. Deny lists and the consent to
 * private addresses come from the turn.
 */
export function meetNetworkPolicy({ personalityAllow, turn }: NetworkPolicySources): NetworkPolicy {
  // A list met with itself would lose what names a machine or a port beside a wider entry.
  const allow =
    personalityAllow !== undefined &&
    turn?.allow !== undefined &&
    !isDeepStrictEqual(personalityAllow, turn.allow)
      ? meetHostLists(personalityAllow, turn.allow)
      : (personalityAllow ?? turn?.allow);
  return {
    ...(allow !== undefined && { allow: [...allow] }),
    ...(turn?.deny !== undefined && { deny: [...turn.deny] }),
    ...(turn?.allow_private_urls !== undefined && { allow_private_urls: turn.allow_private_urls }),
    ...(turn?.declared_only !== undefined && { declared_only: turn.declared_only }),
  };
}
