import {
  compileHostSet,
  type HostSet,
  meetHostLists,
  parseHostPattern,
  secretRefMatches,
} from '@ethosagent/policy';
import type { SecretDeclaration, SecretRef } from '@ethosagent/types';

/** The secrets that a tool declares: which it may read, and where the others may be sent. */
export class SecretBindings {
  readonly #declared: readonly SecretDeclaration[];
  readonly #networkHosts: readonly string[];

  /**
   * @param networkHosts the hosts that the tool declares; a secret that names no hosts is bound to
   * these
   */
  constructor(declared: readonly SecretDeclaration[], networkHosts: readonly string[] = []) {
    this.#declared = declared;
    this.#networkHosts = networkHosts.filter(
      (pattern) => parseHostPattern(pattern)?.kind !== 'any',
    );
  }

  /**
   * Whether a tool may read the value itself. Only a secret that is declared without hosts is
   * readable.
   */
  isReadable(ref: SecretRef): boolean {
    return this.#declared.some((one) => typeof one === 'string' && secretRefMatches(one, ref));
  }

  /** The hosts that the declarations bind a secret to. */
  boundTo(ref: SecretRef): readonly string[] {
    const bound = this.#declared.flatMap((one) =>
      typeof one !== 'string' && secretRefMatches(one.ref, ref) ? one.hosts : [],
    );
    return bound.length > 0 ? bound : this.#networkHosts;
  }

  /** The hosts that the value of a secret may be sent to, within the reach of a call. */
  hostsOf(ref: SecretRef, reach: Iterable<string>): HostSet {
    return compileHostSet(meetHostLists(this.boundTo(ref), reach));
  }

  /** The declarations. Bound secrets come with the hosts that are within the reach of a call. */
  describe(reach: Iterable<string>): SecretDeclaration[] {
    return this.#declared.map((one) => {
      if (typeof one === 'string') return one;
      return { ref: one.ref, hosts: meetHostLists(one.hosts, reach) };
    });
  }
}
