import {
  compileHostSet,
  type HostSet,
  meetHostLists,
  parseHostPattern,
  secretRefMatches,
} from '@ethosagent/policy';
import type { SecretDeclaration, SecretRef } from '@ethosagent/types';

/** What a tool declares of its secrets: which it may read, and where the others may be sent. */
export class SecretBindings {
  readonly #declared: readonly SecretDeclaration[];
  readonly #networkHosts: readonly string[];

  /** @param networkHosts those that the tool declares; a secret without hosts is bound to them */
  constructor(declared: readonly SecretDeclaration[], networkHosts: readonly string[] = []) {
    this.#declared = declared;
    this.#networkHosts = networkHosts.filter(
      (pattern) => parseHostPattern(pattern)?.kind !== 'any',
    );
  }

  /** Whether a tool may have the value itself: only of a secret that is declared without hosts. */
  isReadable(ref: SecretRef): boolean {
    return this.#declared.some((one) => typeof one === 'string' && secretRefMatches(one, ref));
  }

  /** The hosts that the value of a secret may be sent to, within the reach of a call. */
  hostsOf(ref: SecretRef, reach: Iterable<string>): HostSet {
    const bound = this.#declared.flatMap((one) =>
      typeof one !== 'string' && secretRefMatches(one.ref, ref) ? one.hosts : [],
    );
    return compileHostSet(meetHostLists(bound.length > 0 ? bound : this.#networkHosts, reach));
  }

  /** The declarations, with the hosts within the reach of a call for those that are bound. */
  describe(reach: Iterable<string>): SecretDeclaration[] {
    return this.#declared.map((one) => {
      if (typeof one === 'string') return one;
      return { ref: one.ref, hosts: meetHostLists(one.hosts, reach) };
    });
  }
}
