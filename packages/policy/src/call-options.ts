import { EthosError } from '@ethosagent/types';

/**
 * A count out of the options of a call.
 *
 * @param name of the option, for the message
 * @param value what the caller gave
 * @param options `fallback` for an absent value, and the `max` to which a larger one is cut
 * @returns a whole number from 0 to `max`
 * @throws `VALUE_INVALID` for anything but a whole number from 0
 */
export function countOf(
  name: string,
  value: number | undefined,
  { fallback, max }: { fallback: number; max: number },
): number {
  const count = value ?? fallback;
  if (Number.isInteger(count) && count >= 0) return Math.min(count, max);
  throw invalid(`${name} is a whole number from 0`);
}

/**
 * A moment out of the options of a call.
 *
 * @param name of the option, for the message
 * @param value milliseconds since the epoch
 * @param fallback milliseconds since the epoch, for an absent value
 * @returns milliseconds since the epoch
 * @throws `VALUE_INVALID` for anything but a number
 */
export function momentOf(name: string, value: number | undefined, fallback: number): number {
  const moment = value ?? fallback;
  if (typeof moment === 'number' && !Number.isNaN(moment)) return moment;
  throw invalid(`${name} is a number of milliseconds since the epoch`);
}

function invalid(detail: string): EthosError {
  return new EthosError('VALUE_INVALID', detail);
}
