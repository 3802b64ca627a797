import { isDeepStrictEqual } from 'node:util';
import { mcpServerOf, meetHostLists } from '@ethosagent/policy';
import {
  EthosError,
  type NetworkPolicy,
  type ProcessPolicy,
  type QuotaPolicy,
  type SecretSources,
  type UntrustedPolicy,
} from '@ethosagent/types';
import type { CapabilityBackends, PersonalityFsReach, PersonalityPolicy } from './backends.js';
import {
  NETWORK,
  PERSONALITY,
  type PolicyShape,
  PROCESS,
  QUOTAS,
  REACH,
  soundHosts,
  soundPolicy,
} from './policy-shape.js';

const NO_REACH: PersonalityFsReach = { read: [], write: [] };
const NO_HOSTS: readonly string[] = [];

/** For an unknown personality, such as one whose file became invalid while a call waited. */
const UNKNOWN: PersonalityPolicy = {
  offers: () => false,
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
 * What the backends say about a personality at one moment. Each source is asked once, when it is
 * first needed. After a wait, a call creates a new one.
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

  /** What the personality may read and write; nothing if no source says. */
  get fsReach(): PersonalityFsReach {
    this.#reach ??= { value: this.#askReach() };
    return this.#reach.value;
  }

  /** The hosts that the personality allows; `undefined` if it has no list. */
  get networkAllow(): readonly string[] | undefined {
    this.#allow ??= { value: this.#askAllow() };
    return this.#allow.value;
  }

  /** The hosts that the personality denies. */
  get networkDeny(): readonly string[] | undefined {
    return this.#said?.safety?.network?.deny;
  }

  /** The network policy of a service that no call opened; `undefined` if there is none. */
  get networkPolicy(): NetworkPolicy | undefined {
    const own = this.#backends.personalityNetworkPolicy;
    return own === undefined
      ? this.#said?.safety?.network
      : this.#ask('backends.personalityNetworkPolicy', own, NETWORK);
  }

  /** How processes run; `undefined` if they run without restrictions. */
  get process(): ProcessPolicy | undefined {
    const own = this.#backends.personalityProcess;
    this.#process ??= {
      value:
        own === undefined
          ? this.#said?.safety?.process
          : this.#ask('backends.personalityProcess', own, PROCESS),
    };
    return this.#process.value;
  }

  /** Caps on what is used up; `undefined` for none. */
  get quotas(): QuotaPolicy | undefined {
    const own = this.#backends.personalityQuotas;
    this.#quotas ??= {
      value:
        own === undefined
          ? this.#said?.safety?.quotas
          : this.#ask('backends.personalityQuotas', own, QUOTAS),
    };
    return this.#quotas.value;
  }

  /**
   * Which secrets are used for the declared refs; `undefined` for an unknown personality, since it
   * may have had keys of its own.
   */
  get secretSources(): SecretSources | undefined {
    return this.#said === UNKNOWN ? undefined : (this.#said?.safety?.secrets ?? {});
  }

  /**
   * The settings of a tool; `undefined` if there are none.
   * @throws `CONFIG_INVALID` for an unknown personality: the defaults may allow more than its
   * settings
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

  /** Whether the personality has a tool now. */
  offers(toolName: string): boolean {
    return this.#said?.offers?.(toolName) ?? true;
  }

  /** What calls may do once untrusted content was read. */
  get untrusted(): UntrustedPolicy | undefined {
    return this.#said?.safety?.untrusted;
  }

  /** The parts of the policy that allow a tool, if a file says so. */
  placesOfTool(name: string): string[] {
    const { places } = this.#said ?? {};
    const server = mcpServerOf(name);
    const found =
      server === undefined ? places?.('toolset', name) : places?.('mcp_servers', server);
    return [...(found ?? [])];
  }

  /**
   * Where a part of the policy stands: the lines of files, or its name if code sets it.
   * @param index of an entry in the list; `undefined` for the list itself
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

  /** The lines of files where a part stands; empty if code sets it. */
  linesOf(part: PolicyPart): string[] {
    return [...(this.#said?.places?.(part) ?? [])];
  }

  /** Whether a separate callback sets the part. */
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
    this.#whole ??= {
      value: this.#ask('backends.personality', personality, PERSONALITY) ?? UNKNOWN,
    };
    return this.#whole.value;
  }

  /** @throws `CONFIG_INVALID` for an answer that would limit nothing, such as a promise */
  #ask<T extends object>(
    of: string,
    source: T | ((id: string | undefined) => T | undefined),
    shape: PolicyShape,
  ): T | undefined {
    const said = typeof source === 'function' ? source(this.#personalityId) : source;
    return said === undefined ? undefined : soundPolicy(of, said, shape);
  }

  #askReach(): PersonalityFsReach {
    const own = this.#backends.personalityFsReach;
    if (own !== undefined) return this.#ask('backends.personalityFsReach', own, REACH) ?? NO_REACH;
    const said = this.#said?.fs_reach;
    return said === undefined ? NO_REACH : { ...NO_REACH, ...said };
  }

  #askAllow(): readonly string[] | undefined {
    const own = this.#backends.personalityNetworkAllow;
    if (own === undefined) return this.#said?.safety?.network?.allow;
    const said = typeof own === 'function' ? own(this.#personalityId) : own;
    if (said === null) return undefined;
    // A function knows every personality, so a personality that it does not know gets nothing.
    return soundHosts('backends.personalityNetworkAllow', said ?? NO_HOSTS);
  }
}

/** Where the network policy of a call comes from. */
export interface NetworkPolicySources {
  /** The personality's list; `undefined` if it has none. */
  personalityAllow: readonly string[] | undefined;
  /** The hosts that the personality denies. */
  personalityDeny?: readonly string[] | undefined;
  /** The policy of the turn. */
  turn: NetworkPolicy | undefined;
}

/**
 * Combines the policies of the personality and of the turn: the result allows what both allow, and
 * denies what either denies. The turn decides about private addresses.
 */
export function meetNetworkPolicy({
  personalityAllow,
  personalityDeny,
  turn,
}: NetworkPolicySources): NetworkPolicy {
  // Meeting a list with itself would lose an entry for a machine or a port that stands beside a
  // wider entry.
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
