import { EthosError } from '@ethosagent/types';

/**
 * Copies bytes that somebody else may change later. Plain JavaScript may pass something else, such
 * as the `ArrayBuffer` of a `File`, of which a copy would be empty or wrong.
 *
 * @param bytes anything
 * @param name of what they are, for the message
 * @returns the copy
 * @throws `VALUE_INVALID` unless they are a `Uint8Array`
 */
export function copyBytes(bytes: unknown, name: string): Uint8Array {
  // Also for arrays of another realm, and for a `Buffer`.
  const isBytes = (value: unknown): value is Uint8Array =>
    ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === '[object Uint8Array]';
  if (isBytes(bytes)) return Uint8Array.from(bytes);
  throw new EthosError('VALUE_INVALID', `${name}: its bytes are not a Uint8Array`);
}
