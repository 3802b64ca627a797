import { declaredRef, meetHosts, secretRefMatches } from '@ethosagent/policy';
import type { SecretDeclaration } from '@ethosagent/types';
import type { CompareCapability } from './grant-change.js';

/**
 * Secrets that one grant lets a tool read or send, and the other may not. Who reads a value may send
 * it wherever requests go, so that a binding takes from that and adds nothing.
 */
export const compareSecrets: CompareCapability = (
  { secrets: before = [] },
  { secrets: after = [] },
) =>
  after.flatMap((secret) => {
    const ref = declaredRef(secret);
    const known = before.filter((each) => coversRef(declaredRef(each), ref));
    if (known.some(isReadable)) return [];
    const declared = 'secrets';
    if (typeof secret === 'string') {
      const what = `the value of the secret ${ref}`;
      return [{ what, entry: ref, declared }];
    }
    const hosts = known.flatMap((each) => (typeof each === 'string' ? [] : each.hosts));
    return secret.hosts
      .filter((host) => !hosts.some((each) => meetHosts(each, host) === meetHosts(host, host)))
      .map((host) => ({ what: `the secret ${ref} sent to ${host}`, entry: host, declared }));
  });

function isReadable(secret: SecretDeclaration): boolean {
  return typeof secret === 'string';
}

/** Whether a declared ref covers all that another one covers. */
function coversRef(wide: string, narrow: string): boolean {
  if (wide === narrow) return true;
  // All below `a/b` is below `a` where `a/b` itself is.
  return (
    secretRefMatches(wide, narrow.endsWith('/*') ? narrow.slice(0, -2) : narrow) &&
    (wide.endsWith('/*') || !narrow.endsWith('/*'))
  );
}
