import { isSecretRef } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/** Makes a `SECRET_NOT_FOUND` error. It names the ref and what to do, never a path or a value. */
export function secretError(ref: string, detail: string): EthosError {
  return new EthosError('SECRET_NOT_FOUND', `${ref}: ${detail}`);
}

/**
 * Checks the form of a ref.
 * @throws `SECRET_NOT_FOUND` for a string that can't name a secret
 */
export function assertSecretRef(ref: string): void {
  if (isSecretRef(ref)) return;
  throw new EthosError(
    'SECRET_NOT_FOUND',
    'the ref is malformed; use segments of letters, digits and _ . @ : + - separated by /',
  );
}
