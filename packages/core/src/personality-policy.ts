import { isDeepStrictEqual } from 'node:util';
import { mcpServerOf, meetHostLists } from '@ethosagent/policy';
import {
  EthosError,
  type NetworkPolicy,
  type ProcessPolicy,
  type QuotaPolicy,
  type SecretSources,
} from '@ethosagent/types';
import type { CapabilityBackends, PersonalityFsReach, PersonalityPolicy } from './backends.js';

const NO_REACH: PersonalityFsReach = { read: [], write: [] };

/** For a personality that is not known, such as one whose file went wrong while a call waited. */
const UNKNOWN: PersonalityPolicy = {
  safety: {
    network: { allow: [] },
    process: { sandbox: 'required' },
    quotas: {
      per_call: {
        requests: 0,
        bytes_in: 0,
        bytes_out: 0,
        process_seconds: 0,
        files_written: 0,
        store_bytes: 0,
      },
    },
  },
};

/** A part of a policy that decides on accesses. */
export type PolicyPart =
  | 'fs_reach.read'
  | 'fs_reach.write'
  | 'safety.network.allow'
  | 'safety.network.deny'
  | 'safety.network.allow_private_urls'
  | `safety.process.${string}`
  | `safety.secrets.${string}`
  | `safety.quotas.${string}`;

interface Asked<T> {
  value: T;
}

/**
 * What the backends say of a personality at one moment. Each source is asked once, when it is first
 * needed: a call that waited takes a new one.
 */
export class PolicyAtOnce {
  readonly #backends: CapabilityBackends;
  readonly #personalityId: string | undefined;
  #whole: Asked<PersonalityPolicy | undefined> | undefined;
  #reach: Asked<PersonalityFsReach> | undefined;
  #allow: Asked<readonly string[] | undefined> | undefined;
  #process: Asked<ProcessPolicy | undefined> | undefined;
  #quotas: Asked<QuotaPolicy | undefined> | undefined;

  constructor(backends: CapabilityBackends, personalityId: string | undefined) {
    this.#backends = backends;
    this.#personalityId = personalityId;
  }

  /** What the personality may read and write; nothing where nobody says. */
  get fsReach(): PersonalityFsReach {
    this.#reach ??= { value: this.#askReach() };
    return this.#reach.value;
  }

  /** The hosts that the personality allows; `undefined` when it has no list. */
  get networkAllow(): readonly string[] | undefined {
    this.#allow ??= { value: this.#askAllow() };
    return this.#allow.value;
  }

  /** Hosts that the personality refuses. */
  get networkDeny(): readonly string[] | undefined {
    return this.#said?.safety?.network?.deny;
  }

  /** The network policy of a service that no call opens; `undefined` for none. */
  get networkPolicy(): NetworkPolicy | undefined {
    const own = this.#backends.personalityNetworkPolicy;
    return own === undefined ? this.#said?.safety?.network : this.#ask(own);
  }

  /** How processes run; `undefined` for plain ones. */
  get process(): ProcessPolicy | undefined {
    const own = this.#backends.personalityProcess;
    this.#process ??= { value: own === undefined ? this.#said?.safety?.process : this.#ask(own) };
    return this.#process.value;
  }

  /** Caps on what is used up; `undefined` for none. */
  get quotas(): QuotaPolicy | undefined {
    const own = this.#backends.personalityQuotas;
    this.#quotas ??= { value: own === undefined ? this.#said?.safety?.quotas : this.#ask(own) };
    return this.#quotas.value;
  }

  /**
   * Which secrets stand behind declared refs; `undefined` for a personality that is not known, which
   * may have had keys of its own.
   */
  get secretSources(): SecretSources | undefined {
    return this.#said === UNKNOWN ? undefined : (this.#said?.safety?.secrets ?? {});
  }

  /**
   * What is set for a tool; `undefined` for nothing.
   * @throws `CONFIG_INVALID` for a personality that is not known: the defaults may be wider
   */
  settings(key: string): unknown {
    const { personalityToolSettings } = this.#backends;
    if (personalityToolSettings !== undefined) {
      return personalityToolSettings(this.#personalityId, key);
    }
    if (this.#said === UNKNOWN) {
      throw new EthosError(
        'CONFIG_INVALID',
        'the file of the personality is no longer valid, so no call runs. The operator sees what is wrong in it with "ethosagent check".',
      );
    }
    const all = this.#said?.tool_settings;
    return all !== undefined && Object.hasOwn(all, key) ? all[key] : undefined;
  }

  /** What of the policy gives a tool, where a file says it. */
  placesOfTool(name: string): string[] {
    const { places } = this.#said ?? {};
    const server = mcpServerOf(name);
    const found =
      server === undefined ? places?.('toolset', name) : places?.('mcp_servers', server);
    return [...(found ?? [])];
  }

  /**
   * Where a part of the policy stands: the lines of files, or what it is called where code says it.
   * @param index of the entry of a list; `undefined` for the list itself
   */
  placesOf(part: PolicyPart, entries?: readonly string[], index?: number): string[] {
    const entry = index === undefined ? undefined : entries?.[index];
    if (!this.#isFromCode(part)) {
      const places = this.#said?.places?.(part, entry) ?? [];
      if (places.length > 0) return [...places];
    }
    const whose =
      this.#personalityId === undefined ? 'no personality' : `personality ${this.#personalityId}`;
    return [`${whose}: ${part}${index === undefined ? '' : `[${index}]`}`];
  }

  /** The lines of files where a part stands; none where code says it. */
  linesOf(part: PolicyPart): string[] {
    return [...(this.#said?.places?.(part) ?? [])];
  }

  /** Whether a callback of its own says the part. */
  #isFromCode(part: PolicyPart): boolean {
    const { personalityFsReach, personalityNetworkAllow, personalityProcess, personalityQuotas } =
      this.#backends;
    if (part.startsWith('fs_reach')) return personalityFsReach !== undefined;
    if (part === 'safety.network.allow') return personalityNetworkAllow !== undefined;
    if (part.startsWith('safety.process')) return personalityProcess !== undefined;
    return part.startsWith('safety.quotas') && personalityQuotas !== undefined;
  }

  get #said(): PersonalityPolicy | undefined {
    const { personality } = this.#backends;
    if (personality === undefined) return undefined;
    this.#whole ??= { value: personality(this.#personalityId) ?? UNKNOWN };
    return this.#whole.value;
  }

  #ask<T extends object>(source: T | ((id: string | undefined) => T | undefined)): T | undefined {
    return typeof source === 'function' ? source(this.#personalityId) : source;
  }

  #askReach(): PersonalityFsReach {
    const own = this.#backends.personalityFsReach;
    if (own !== undefined) return this.#ask(own) ?? NO_REACH;
    const said = this.#said?.fs_reach;
    return said === undefined ? NO_REACH : { ...NO_REACH, ...said };
  }

  #askAllow(): readonly string[] | undefined {
    const own = this.#backends.personalityNetworkAllow;
    if (own === undefined) return this.#said?.safety?.network?.allow;
    if (typeof own !== 'function') return own;
    const allow = own(this.#personalityId);
    // A function knows every personality there is: one that it doesn't know gets nothing.
    return allow === null ? undefined : (allow ?? []);
  }
}

/** Where the network policy of a call comes from. */
export interface NetworkPolicySources {
  /** The personality's list; `undefined` when it has none. */
  personalityAllow: readonly string[] | undefined;
  /** What the personality refuses. */
  personalityDeny?: readonly string[] | undefined;
  /** The policy of the turn. */
  turn: NetworkPolicy | undefined;
}

/**
 * The personality's policy met with that of the turn: allow lists meet, deny lists join. The consent
 * to private addresses comes from the turn.
 */
export function meetNetworkPolicy({
  personalityAllow,
  personalityDeny,
  turn,
}: NetworkPolicySources): NetworkPolicy {
  // A list met with itself would lose what names a machine or a port beside a wider entry.
  const allow =
    personalityAllow !== undefined &&
    turn?.allow !== undefined &&
    !isDeepStrictEqual(personalityAllow, turn.allow)
      ? meetHostLists(personalityAllow, turn.allow)
      : (personalityAllow ?? turn?.allow);
  const deny = joinLists(personalityDeny, turn?.deny);
  return {
    ...(allow !== undefined && { allow: [...allow] }),
    ...(deny !== undefined && { deny }),
    ...(turn?.allow_private_urls !== undefined && { allow_private_urls: turn.allow_private_urls }),
    ...(turn?.declared_only !== undefined && { declared_only: turn.declared_only }),
  };
}

function joinLists(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): string[] | undefined {
  if (a === undefined || b === undefined) return (a ?? b) && [...(a ?? b ?? [])];
  return [...new Set([...a, ...b])];
}
