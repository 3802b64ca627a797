import { isSecretRef } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/** An error of a secrets backend. It names the ref and what to do, never a path or a value. */
export function secretError(ref: string, detail: string): EthosError {
  return new EthosError('SECRET_NOT_FOUND', `${ref}: ${detail}`);
}

/** @throws `SECRET_NOT_FOUND` for a string that can't name a secret */
export function assertSecretRef(ref: string): void {
  if (isSecretRef(ref)) return;
  throw new EthosError(
    'SECRET_NOT_FOUND',
    'the ref is malformed; use segments of letters, digits and _ . @ : + - separated by /',
  );
}
