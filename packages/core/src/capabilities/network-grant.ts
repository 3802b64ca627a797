import { resolveAllowedHosts } from '@ethosagent/policy';
import {
  createNetworkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
} from '@ethosagent/safety-network';
import type { NetworkPolicy } from '@ethosagent/types';
import { meetNetworkPolicy, type NetworkPolicySources } from '../personality-policy.js';
import { isSameList } from './grant-cache.js';
import type { ResolvedGrant } from './resolved-grant.js';

/** The hosts of a tool under one policy, and the guard that all its calls share. */
export class NetworkGrant {
  readonly hosts: ReadonlySet<string>;
  readonly #declared: readonly string[];
  readonly #sources: NetworkPolicySources;
  readonly #policy: NetworkPolicy;
  #guard: NetworkGuard | undefined;

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

  guard(options: Pick<NetworkGuardOptions, 'fetch' | 'lookup'>): NetworkGuard {
    this.#guard ??= createNetworkGuard({
      allowedHosts: this.hosts,
      declaredHosts: this.#declared,
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
