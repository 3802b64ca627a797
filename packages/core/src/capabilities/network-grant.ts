import { isDeepStrictEqual } from 'node:util';
import {
  coveringHostEntry,
  meetHostLists,
  networkConsents,
  resolveAllowedHosts,
} from '@ethosagent/policy';
import {
  createNetworkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
} from '@ethosagent/safety-network';
import type { AuditWhy, NetworkPolicy } from '@ethosagent/types';
import type { Access, AccessBasis } from '../call-scope.js';
import {
  meetNetworkPolicy,
  type NetworkPolicySources,
  type PolicyAtOnce,
} from '../personality-policy.js';
import { declaredEntry } from './declared-part.js';
import { GrantCache, isSameList } from './grant-cache.js';
import type { ResolvedGrant } from './resolved-grant.js';

type GuardOptions = Pick<NetworkGuardOptions, 'fetch' | 'lookup'>;

/** The entries that decided an access, by their indexes. */
interface Origin {
  declared: string;
  allow: number | undefined;
  deny: number | undefined;
  turnAllow: number | undefined;
  turnDeny: number | undefined;
}

/** The hosts that a call may reach. */
export interface HostGrant {
  readonly hosts: ReadonlySet<string>;
  guard(options: GuardOptions): NetworkGuard;
  describe(): NonNullable<ResolvedGrant['network']>;
  /** What decided an access: an entry of the declaration, and of each list that was asked. */
  why(access: Access, policy: PolicyAtOnce, tool: () => string[]): AuditWhy;
}

/** The hosts of a tool under one policy, and the guard that all its calls share. */
export class NetworkGrant implements HostGrant {
  readonly hosts: ReadonlySet<string>;
  readonly #declared: readonly string[];
  readonly #sources: NetworkPolicySources;
  readonly #policy: NetworkPolicy;
  #guard: NetworkGuard | undefined;
  readonly #narrowed = new GrantCache((hosts: readonly string[]) => this.#narrowTo(hosts));
  /** Where each possible decision comes from. */
  readonly #origins = new Map<string, Origin>();

  constructor(declared: readonly string[], sources: NetworkPolicySources) {
    this.#declared = declared;
    this.#sources = structuredClone(sources);
    this.#policy = meetNetworkPolicy(this.#sources);
    this.hosts = new Set(
      resolveAllowedHosts(declared, this.#policy.allow, {
        declaredOnly: this.#policy.declared_only === true,
      }),
    );
  }

  guard(options: GuardOptions): NetworkGuard {
    this.#guard ??= this.#createGuard(options);
    return this.#guard;
  }

  #createGuard(options: GuardOptions, withinHosts?: readonly string[]): NetworkGuard {
    return createNetworkGuard({
      allowedHosts: this.hosts,
      declaredHosts: this.#declared,
      policy: this.#policy,
      withinHosts,
      ...(options.fetch !== undefined && { fetch: options.fetch }),
      ...(options.lookup !== undefined && { lookup: options.lookup }),
    });
  }

  /**
   * The grant that is left for one narrowed call. Calls that are narrowed in the same way share
   * connections.
   */
  narrowedTo(hosts: readonly string[]): HostGrant {
    return this.#narrowed.get(hosts);
  }

  #narrowTo(within: readonly string[]): HostGrant & { isFor(hosts: readonly string[]): boolean } {
    const hosts = new Set(meetHostLists(this.hosts, within));
    let guard: NetworkGuard | undefined;
    return {
      hosts,
      isFor: (others) => isSameList(within, others),
      guard: (options) => (guard ??= this.#createGuard(options, within)),
      describe: () => ({ ...this.describe(), allowedHosts: [...hosts] }),
      why: (access, policy, tool) => this.why(access, policy, tool),
    };
  }

  describe(): NonNullable<ResolvedGrant['network']> {
    const { deny, allow_private_urls } = this.#policy;
    const { privateHosts, servicePorts } = networkConsents(this.#declared, this.#policy);
    return {
      allowedHosts: [...this.hosts],
      ...(deny !== undefined && { deny: [...deny] }),
      ...(allow_private_urls !== undefined && { allow_private_urls }),
      ...(privateHosts.length > 0 && { privateHosts }),
      ...(servicePorts.length > 0 && { servicePorts }),
    };
  }

  why({ basis = {} }: Access, policy: PolicyAtOnce, tool: () => string[]): AuditWhy {
    const { personalityAllow, personalityDeny, turn } = this.#sources;
    const { declared, allow, deny, turnAllow, turnDeny } = this.#originOf(basis);
    if (basis.deny !== undefined) {
      // An entry may be another spelling of the address that it denies. Then it is not found, and
      // the whole list is named.
      const isOfTurn =
        deny === undefined && (turnDeny !== undefined || personalityDeny === undefined);
      return {
        declared,
        policy: isOfTurn
          ? turnPart('deny', turnDeny)
          : policy.placesOf('safety.network.deny', personalityDeny, deny),
      };
    }
    if (basis.covers === undefined) return { declared, policy: [] };
    const own =
      personalityAllow === undefined
        ? tool()
        : policy.placesOf('safety.network.allow', personalityAllow, allow);
    // In a runtime, the turn has the same list as the personality.
    const isOfTurn = turn?.allow !== undefined && !isDeepStrictEqual(turn.allow, personalityAllow);
    return {
      declared,
      policy: [
        ...own,
        ...(isOfTurn ? turnPart('allow', turnAllow) : []),
        ...(basis.privateUrls === true ? openedBy(policy) : []),
      ],
    };
  }

  #originOf(basis: AccessBasis): Origin {
    const key = [basis.covers, basis.allow, basis.deny].join(' ');
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      const { personalityAllow, personalityDeny, turn } = this.#sources;
      const allow = basis.allow ?? basis.covers;
      origin = {
        declared: declaredEntry(
          'network.allowedHosts',
          this.#declared,
          placeIn(this.#declared, basis.covers),
        ),
        allow: placeIn(personalityAllow, allow),
        deny: placeIn(personalityDeny, basis.deny),
        turnAllow: placeIn(turn?.allow, allow),
        turnDeny: placeIn(turn?.deny, basis.deny),
      };
      this.#origins.set(key, origin);
    }
    return origin;
  }

  isFor({ personalityAllow, personalityDeny, turn }: NetworkPolicySources): boolean {
    const mine = this.#sources;
    return (
      isSameList(mine.personalityAllow, personalityAllow) &&
      isSameList(mine.personalityDeny, personalityDeny) &&
      mine.turn?.allow_private_urls === turn?.allow_private_urls &&
      mine.turn?.declared_only === turn?.declared_only &&
      isSameList(mine.turn?.allow, turn?.allow) &&
      isSameList(mine.turn?.deny, turn?.deny)
    );
  }
}

function placeIn(entries: readonly string[] | undefined, entry: string | undefined) {
  return entries === undefined || entry === undefined
    ? undefined
    : coveringHostEntry(entries, entry);
}

/** Where `allow_private_urls` is set. In a runtime, the turn has the value of the personality. */
function openedBy(policy: PolicyAtOnce): string[] {
  const part = 'safety.network.allow_private_urls';
  const lines = policy.linesOf(part);
  return lines.length > 0 ? lines : ['the turn: networkPolicy.allow_private_urls'];
}

function turnPart(list: 'allow' | 'deny', index: number | undefined): string[] {
  return [`the turn: networkPolicy.${list}${index === undefined ? '' : `[${index}]`}`];
}
