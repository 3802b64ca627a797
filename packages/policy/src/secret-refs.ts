import type { SecretDeclaration, SecretRef } from '@ethosagent/types';

// Some backends use refs as names of files and of environment variables, so only characters that
// are harmless in all of them are allowed.
const SECRET_REF =
  /^(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.@:+-]+(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.@:+-]+)*$/;
const MAX_REF_CHARS = 512;

/**
 * Whether a string can name a secret: segments of letters, digits and `_ . @ : + -`, separated by
 * `/`, none of them empty, `.` or `..`; 512 characters at most.
 *
 * @param ref the string
 */
export function isSecretRef(ref: string): boolean {
  return typeof ref === 'string' && ref.length <= MAX_REF_CHARS && SECRET_REF.test(ref);
}

/**
 * The ref of a declaration, whether it is bound to hosts or not.
 *
 * @param declaration a ref, or an object with a ref and hosts
 * @returns the ref
 */
export function declaredRef(declaration: SecretDeclaration): SecretRef {
  return typeof declaration === 'object' && declaration !== null ? declaration.ref : declaration;
}

/**
 * Whether a string can be declared: a ref, or a ref followed by `/*` for every deeper ref.
 *
 * @param pattern the string
 */
export function isSecretRefPattern(pattern: string): boolean {
  return isSecretRef(prefixOf(pattern) ?? pattern);
}

/**
 * Whether a declared ref covers a requested one. A malformed ref covers nothing, and nothing covers
 * it.
 *
 * @param pattern the declared ref
 * @param ref the requested one
 */
export function secretRefMatches(pattern: string, ref: string): boolean {
  if (!isSecretRef(ref)) return false;
  const prefix = prefixOf(pattern);
  if (prefix === undefined) return pattern === ref;
  return isSecretRef(prefix) && ref.startsWith(`${prefix}/`);
}

/**
 * The pattern for the refs that both patterns cover; `null` when there is none.
 *
 * @param a a declared ref
 * @param b a declared ref
 * @returns the narrower pattern
 */
export function meetSecretRefs(a: string, b: string): string | null {
  if (!isSecretRefPattern(a) || !isSecretRefPattern(b)) return null;
  if (a === b || isRefWithin(a, b)) return a;
  return isRefWithin(b, a) ? b : null;
}

/** Whether every ref of the one pattern also matches the other. */
function isRefWithin(narrow: string, wide: string): boolean {
  const prefix = prefixOf(wide);
  return prefix !== undefined && (prefixOf(narrow) ?? narrow).startsWith(`${prefix}/`);
}

function prefixOf(pattern: string): string | undefined {
  return typeof pattern === 'string' && pattern.endsWith('/*') ? pattern.slice(0, -2) : undefined;
}
