import { EthosError } from '@ethosagent/types';

/** Half of the longest string in V8, and far below SQLite's own limit of a billion. */
export const MAX_TEXT_LENGTH = 268_435_456;

/**
 * Reads a whole number above zero from options.
 * @throws `CONFIG_INVALID` for any other value, or one above `max`
 */
export function wholeNumberOption<Name extends string>(
  options: { readonly [K in Name]?: number },
  name: Name,
  { factory, fallback, max }: { factory: string; fallback: number; max: number },
): number {
  const value = options[name] ?? fallback;
  if (Number.isInteger(value) && value > 0 && value <= max) return value;
  throw invalidOption(factory, name, `a whole number from 1 to ${max}`);
}

export function invalidOption(factory: string, name: string, wanted: string): EthosError {
  return new EthosError('CONFIG_INVALID', `${factory}: ${name} must be ${wanted}`);
}
