import type { ResolvedGrant } from '@ethosagent/core';
import { declaredRef, secretRefMatches, secretSource } from '@ethosagent/policy';

/** A declared secret, or a prefix of some, as a personality gives it to a tool. */
export interface GivenSecret {
  readonly ref: string;
  /** Whose value it is; `undefined` for none. */
  readonly source: string | undefined;
  /** Where it may be sent; empty for one that the tool may read. */
  readonly hosts: readonly string[];
}

/** The secrets of a grant; below a prefix, also each for which the personality names another one. */
export function givenSecrets({ secrets = [], secretSources = {} }: ResolvedGrant): GivenSecret[] {
  return secrets.flatMap((declared) => {
    const prefix = declaredRef(declared);
    const below = Object.keys(secretSources).filter((ref) => secretRefMatches(prefix, ref));
    const hosts = typeof declared === 'string' ? [] : (declared.hosts ?? []);
    return [...new Set([prefix, ...below])].map((ref) => {
      // A prefix is no ref, and stands for itself.
      const source = Object.hasOwn(secretSources, ref) ? secretSource(secretSources, ref) : ref;
      return { ref, source, hosts };
    });
  });
}

/** What is to be known of a secret beside its ref; empty for nothing. */
export function secretNote({ ref, source, hosts }: GivenSecret): string {
  return [
    ...(source === ref ? [] : [source === undefined ? 'none here' : `value of ${source}`]),
    ...(hosts.length === 0 ? [] : [`to ${hosts.join(', ')}`]),
  ].join('; ');
}
