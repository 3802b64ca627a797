import { declaredRef, meetHosts, secretRefMatches, secretSource } from '@ethosagent/policy';
import type { SecretDeclaration, SecretRef } from '@ethosagent/types';
import type { ResolvedGrant } from '../resolved-grant.js';
import type { CompareCapability, GainedAccess } from './grant-change.js';

/**
 * Secrets that one grant lets a tool read or send, and the other may not. Who reads a value may send
 * it wherever requests go, so that a binding takes from that and adds nothing.
 */
export const compareSecrets: CompareCapability = (before, after) => {
  const left = Object.keys(before.secretSources ?? {});
  return secretsOf(after, left).flatMap(({ ref, by, policy }) => {
    const known = secretsOf(before).filter((each) => coversRef(each, ref));
    if (known.some((each) => isReadable(each.by))) return [];
    const where = { declared: 'secrets', ...(policy !== undefined && { policy }) };
    if (typeof by === 'string') {
      return [{ what: `the value of the secret ${ref}`, entry: ref, ...where }];
    }
    const hosts = known.flatMap((each) => (typeof each.by === 'string' ? [] : each.by.hosts));
    return by.hosts
      .filter((host) => !hosts.some((each) => meetHosts(each, host) === meetHosts(host, host)))
      .map((host): GainedAccess => {
        return { what: `the secret ${ref} sent to ${host}`, entry: host, ...where };
      });
  });
};

/** A secret, or all below a prefix, that a grant gives. */
interface GivenSecret {
  readonly ref: SecretRef;
  /** Those below the prefix for which the personality says something else. */
  readonly except: readonly SecretRef[];
  readonly by: SecretDeclaration;
  /** What of the personality decides on it. */
  readonly policy?: string;
}

/** @param also refs below a prefix that are to stand for themselves in the list, where they do */
function secretsOf(
  { secrets = [], secretSources = {} }: ResolvedGrant,
  also: readonly SecretRef[] = [],
): GivenSecret[] {
  const except = Object.keys(secretSources);
  return secrets.flatMap((by): GivenSecret[] => {
    const declared = declaredRef(by);
    const single = new Set([...except, ...also].filter((ref) => secretRefMatches(declared, ref)));
    const rest = single.has(declared) ? [] : [{ ref: declared, except, by }];
    const each = [...single].flatMap((ref) => {
      const source = secretSource(secretSources, ref);
      return source === undefined
        ? []
        : [{ ref: source, except: [], by, policy: `safety.secrets.${ref}` }];
    });
    return [...rest, ...each];
  });
}

function isReadable(secret: SecretDeclaration): boolean {
  return typeof secret === 'string';
}

/** Whether a given ref covers all that another one covers. */
function coversRef({ ref: wide, except }: GivenSecret, narrow: SecretRef): boolean {
  if (wide === narrow) return true;
  // All below `a/b` is below `a` where `a/b` itself is.
  return (
    !except.includes(narrow) &&
    secretRefMatches(wide, narrow.endsWith('/*') ? narrow.slice(0, -2) : narrow) &&
    (wide.endsWith('/*') || !narrow.endsWith('/*'))
  );
}
