import { EthosError } from '@ethosagent/types';

/** A count out of the options of a call. @throws `VALUE_INVALID` */
export function countOf(
  name: string,
  value: number | undefined,
  { fallback, max }: { fallback: number; max: number },
): number {
  const count = value ?? fallback;
  if (Number.isInteger(count) && count >= 0) return Math.min(count, max);
  throw invalid(`${name} is a whole number from 0`);
}

/** A moment out of the options of a call. @throws `VALUE_INVALID` */
export function momentOf(name: string, value: number | undefined, fallback: number): number {
  const moment = value ?? fallback;
  if (typeof moment === 'number' && !Number.isNaN(moment)) return moment;
  throw invalid(`${name} is a number of milliseconds since the epoch`);
}

function invalid(detail: string): EthosError {
  return new EthosError('VALUE_INVALID', detail);
}
