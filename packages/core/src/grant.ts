import { resolveAllowedHosts, resolveReach } from '@ethosagent/policy';
import { type DirectoryReach, directoryReach } from '@ethosagent/process';
import {
  createNetworkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
} from '@ethosagent/safety-network';
import type {
  NetworkPolicy,
  ProcessLimits,
  QuotaPolicy,
  SecretDeclaration,
  SessionOwner,
  Storage,
  StorageScope,
  ToolCapabilities,
} from '@ethosagent/types';
import type { PersonalityFsReach } from './backends.js';
import { meetNetworkPolicy, type NetworkPolicySources } from './policy-sources.js';
import { type FsReach, reachOf } from './scoped/scoped-fs.js';

/** What a call may reach, as data: the declaration met with the policy. */
export interface ResolvedGrant {
  network?: {
    allowedHosts: readonly string[];
    /** Hosts that are refused all the same. */
    deny?: readonly string[];
    /** Private and loopback addresses too. */
    allow_private_urls?: boolean;
  };
  /** Those that are bound to hosts with the hosts that they may be sent to. */
  secrets?: readonly SecretDeclaration[];
  storage?: { scope: StorageScope };
  fs_reach?: { read: readonly string[]; write: readonly string[] };
  process?: {
    allowedBinaries: readonly string[];
    /**
     * Whether processes run in a sandbox. Absent: plain processes, which reach whatever the user of
     * the host may.
     */
    sandbox?: 'required' | 'preferred';
    /** Limits of a sandboxed process that the operator set. */
    limits?: ProcessLimits;
    background?: boolean;
  };
  attachments?: { mediaTypes: readonly string[] };
  /** The ids of the memories. */
  memory?: { access: 'read' | 'read-write'; scopes: readonly string[] };
  /** The sessions of an owner, beside the call's own; `null` for none beside it. */
  sessions?: { access: 'read'; owner: SessionOwner | null };
  /** What is kept open beyond the call, with the reach of the call. */
  service?: { scope: 'session' };
  /** Sub-agents, which reach no more than the call's own agent. */
  delegation?: { background: boolean };
  /** Caps on what the call, and its session, use up. */
  quotas?: QuotaPolicy;
}

/** The hosts of a tool under one policy, and the guard that all its calls share. */
export class NetworkGrant {
  readonly hosts: ReadonlySet<string>;
  readonly #sources: NetworkPolicySources;
  readonly #policy: NetworkPolicy;
  #guard: NetworkGuard | undefined;

  constructor(declared: readonly string[], sources: NetworkPolicySources) {
    this.#sources = structuredClone(sources);
    this.#policy = meetNetworkPolicy(this.#sources);
    this.hosts = new Set(
      resolveAllowedHosts(declared, this.#policy.allow, {
        declaredOnly: this.#policy.declared_only === true,
      }),
    );
  }

  guard(options: Pick<NetworkGuardOptions, 'fetch' | 'lookup'>): NetworkGuard {
    this.#guard ??= createNetworkGuard({
      allowedHosts: this.hosts,
      policy: this.#policy,
      ...(options.fetch !== undefined && { fetch: options.fetch }),
      ...(options.lookup !== undefined && { lookup: options.lookup }),
    });
    return this.#guard;
  }

  describe(): NonNullable<ResolvedGrant['network']> {
    const { deny, allow_private_urls } = this.#policy;
    return {
      allowedHosts: [...this.hosts],
      ...(deny !== undefined && { deny: [...deny] }),
      ...(allow_private_urls !== undefined && { allow_private_urls }),
    };
  }

  isFor({ personalityAllow, turn }: NetworkPolicySources): boolean {
    const mine = this.#sources;
    return (
      sameList(mine.personalityAllow, personalityAllow) &&
      mine.turn?.allow_private_urls === turn?.allow_private_urls &&
      mine.turn?.declared_only === turn?.declared_only &&
      sameList(mine.turn?.allow, turn?.allow) &&
      sameList(mine.turn?.deny, turn?.deny)
    );
  }
}

/** The paths of a tool under one personality, compiled once over the storage. */
export class FsGrant {
  readonly read: ReadonlySet<string>;
  readonly write: ReadonlySet<string>;
  readonly #personality: PersonalityFsReach;
  readonly #personalityDeny: readonly string[];
  readonly #deny: readonly string[];
  readonly #declaresPaths: boolean;
  #reach: { storage: Storage; compiled: FsReach } | undefined;
  #narrowed: { storage: Storage; view: Storage | undefined } | undefined;
  #directories: DirectoryReach | undefined;

  constructor(
    declared: NonNullable<ToolCapabilities['fs_reach']>,
    personality: PersonalityFsReach,
    deny: readonly string[],
  ) {
    this.#personality = {
      read: [...(personality.read ?? [])],
      write: [...(personality.write ?? [])],
    };
    this.#personalityDeny = [...(personality.deny ?? [])];
    this.#deny = [...deny, ...this.#personalityDeny];
    this.#declaresPaths = Array.isArray(declared.read) || Array.isArray(declared.write);
    this.read = new Set(resolveReach(declared.read, this.#personality.read));
    this.write = new Set(resolveReach(declared.write, this.#personality.write));
  }

  reach(storage: Storage): FsReach {
    if (this.#reach?.storage !== storage) {
      const within = this.#heldToPersonality(storage);
      this.#reach = { storage, compiled: reachOf(within, this.read, this.write, this.#deny) };
    }
    return this.#reach.compiled;
  }

  // A path that the tool names may be a link that somebody planted: it is followed within the
  // personality's reach only, where the operator's own roots are followed anywhere.
  #heldToPersonality(storage: Storage): Storage {
    if (!this.#declaresPaths) return storage;
    const { read, write } = this.#personality;
    return storage.contained?.({ read, write, deny: this.#deny }) ?? storage;
  }

  /** The turn's storage, held to the declaration; `undefined` where it can't be held. */
  narrow(storage: Storage): Storage | undefined {
    if (this.#narrowed?.storage !== storage) {
      const reach = { read: [...this.read], write: [...this.write], deny: this.#deny };
      this.#narrowed = { storage, view: this.#heldToPersonality(storage).contained?.(reach) };
    }
    return this.#narrowed.view;
  }

  /** Where the processes of a call may work. */
  get directories(): DirectoryReach {
    if (this.#directories === undefined) {
      const { read, write } = this.#personality;
      this.#directories = directoryReach(this, [...read, ...write], this.#deny);
    }
    return this.#directories;
  }

  isFor(personality: PersonalityFsReach): boolean {
    return (
      sameList(this.#personality.read, personality.read ?? []) &&
      sameList(this.#personality.write, personality.write ?? []) &&
      sameList(this.#personalityDeny, personality.deny ?? [])
    );
  }
}

/**
 * Grants of one tool under the policies it was last called with. They are compared by content: a
 * list that an operator changed in place counts as changed.
 */
export class GrantCache<TPolicy, TGrant extends { isFor(policy: TPolicy): boolean }> {
  static readonly MAX_GRANTS = 64;
  readonly #build: (policy: TPolicy) => TGrant;
  #grants: TGrant[] = [];

  constructor(build: (policy: TPolicy) => TGrant) {
    this.#build = build;
  }

  get(policy: TPolicy): TGrant {
    for (const grant of this.#grants) if (grant.isFor(policy)) return grant;
    const grant = this.#build(policy);
    this.#grants.unshift(grant);
    if (this.#grants.length > GrantCache.MAX_GRANTS) this.#grants.pop();
    return grant;
  }
}

function sameList(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
