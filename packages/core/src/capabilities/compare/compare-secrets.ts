import { compileHostCover, declaredRef, secretRefMatches, secretSource } from '@ethosagent/policy';
import type { SecretDeclaration, SecretRef } from '@ethosagent/types';
import type { ResolvedGrant } from '../resolved-grant.js';
import { indexByRef } from '../secret-index.js';
import type { CompareCapability, GainedAccess } from './grant-change.js';

/**
 * The secrets that `after` lets a tool read or send and `before` may not. A tool that reads a value
 * may send it wherever its requests go. So a binding to hosts only restricts the tool.
 */
export const compareSecrets: CompareCapability = (before, after) => {
  const left = Object.keys(before.secretSources ?? {});
  const around = indexByRef(secretsOf(before), ({ ref }) => ref);
  return secretsOf(after, left).flatMap(({ ref, by, policy }) => {
    const known = around(ref).filter((each) => coversRef(each, ref));
    if (known.some((each) => isReadable(each.by))) return [];
    const where = { declared: 'secrets', ...(policy !== undefined && { policy }) };
    if (typeof by === 'string') {
      return [{ what: `the value of the secret ${ref}`, entry: ref, ...where }];
    }
    const covers = compileHostCover(
      known.flatMap((each) => (typeof each.by === 'string' ? [] : each.by.hosts)),
    );
    return by.hosts
      .filter((host) => !covers(host))
      .map((host): GainedAccess => {
        return { what: `the secret ${ref} sent to ${host}`, entry: host, ...where };
      });
  });
};

const NONE: ReadonlySet<SecretRef> = new Set();

/** A secret that a grant gives, or all secrets below a prefix. */
interface GivenSecret {
  readonly ref: SecretRef;
  /** The refs below the prefix for which the personality names another source. */
  readonly except: ReadonlySet<SecretRef>;
  readonly by: SecretDeclaration;
  /** The part of the personality that names its source. */
  readonly policy?: string;
}

/** @param also refs below a prefix that are listed one by one, if a declaration covers them */
function secretsOf(
  { secrets = [], secretSources = {} }: ResolvedGrant,
  also: readonly SecretRef[] = [],
): GivenSecret[] {
  const except = new Set(Object.keys(secretSources));
  const within = new Map(secrets.map((by) => [by, new Set<SecretRef>()]));
  const around = indexByRef(new Set(secrets), declaredRef);
  for (const ref of new Set([...except, ...also])) {
    for (const by of around(ref)) {
      if (secretRefMatches(declaredRef(by), ref)) within.get(by)?.add(ref);
    }
  }
  return secrets.flatMap((by): GivenSecret[] => {
    const declared = declaredRef(by);
    const single = within.get(by) ?? new Set();
    const rest = single.has(declared) ? [] : [{ ref: declared, except, by }];
    const each = [...single].flatMap((ref) => {
      const source = secretSource(secretSources, ref);
      return source === undefined
        ? []
        : [{ ref: source, except: NONE, by, policy: `safety.secrets.${ref}` }];
    });
    return [...rest, ...each];
  });
}

function isReadable(secret: SecretDeclaration): boolean {
  return typeof secret === 'string';
}

/** Whether one given ref covers everything that another one covers. */
function coversRef({ ref: wide, except }: GivenSecret, narrow: SecretRef): boolean {
  if (wide === narrow) return true;
  // If `a/b` is below `a`, so is everything below `a/b`.
  return (
    !except.has(narrow) &&
    secretRefMatches(wide, narrow.endsWith('/*') ? narrow.slice(0, -2) : narrow) &&
    (wide.endsWith('/*') || !narrow.endsWith('/*'))
  );
}
