import type { ResolvedGrant } from '@ethosagent/core';
import { declaredRef, secretRefMatches, secretSource } from '@ethosagent/policy';

/** A declared secret, or a prefix of secrets, as a personality gives it to a tool. */
export interface GivenSecret {
  readonly ref: string;
  /** The ref whose value is used; `undefined` if there is none. */
  readonly source: string | undefined;
  /** Where it may be sent; `undefined` if the tool may read it. */
  readonly hosts: readonly string[] | undefined;
}

/**
 * The secrets of a grant. Below a prefix, also each secret for which the personality names another
 * source.
 */
export function givenSecrets({ secrets = [], secretSources = {} }: ResolvedGrant): GivenSecret[] {
  return secrets.flatMap((declared) => {
    const prefix = declaredRef(declared);
    const below = Object.keys(secretSources).filter((ref) => secretRefMatches(prefix, ref));
    const hosts = typeof declared === 'string' ? undefined : declared.hosts;
    return [...new Set([prefix, ...below])].map((ref) => {
      // A prefix is not a ref, so it is not replaced.
      const source = Object.hasOwn(secretSources, ref) ? secretSource(secretSources, ref) : ref;
      return { ref, source, hosts };
    });
  });
}

/** Returns the note about a secret besides its ref; empty if there is nothing to note. */
export function secretNote({ ref, source, hosts }: GivenSecret): string {
  return [
    ...(source === ref ? [] : [source === undefined ? 'none here' : `value of ${source}`]),
    ...(hosts === undefined ? [] : [`to ${hosts.join(', ') || 'no host, so it can not be used'}`]),
  ].join('; ');
}
