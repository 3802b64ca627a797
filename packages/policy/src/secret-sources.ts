import type { SecretRef, SecretSources } from '@ethosagent/types';
import { isSecretRef } from './secret-refs.js';

/**
 * The ref of the secret that a tool gets for a declared ref.
 *
 * @param sources what the personality says of its refs
 * @param ref as a tool declares it
 * @returns the ref itself where the personality says nothing; `undefined` where it gives no secret
 */
export function secretSource(sources: SecretSources, ref: SecretRef): SecretRef | undefined {
  const source: unknown = Object.hasOwn(sources, ref) ? sources[ref] : ref;
  return typeof source === 'string' && isSecretRef(source) ? source : undefined;
}

/** A ref keeps its source if both personalities name the same one. Otherwise it gets none. */
export function meetSecretSources(
  a: SecretSources | undefined,
  b: SecretSources | undefined,
): SecretSources | undefined {
  if (a === undefined && b === undefined) return undefined;
  const refs = new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})]);
  return Object.fromEntries(
    [...refs].map((ref) => {
      const source = secretSource(a ?? {}, ref);
      return [ref, source === secretSource(b ?? {}, ref) && source !== undefined && source];
    }),
  );
}
