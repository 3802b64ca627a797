import { EthosError, type SessionAppendOptions } from '@ethosagent/types';

/** A day. A session whose owner is gone is free by then. */
const MAX_LEASE_MS = 86_400_000;

/** How a session is held, by the clock of its store. */
export interface SessionHold {
  /** Of the last claim; 0 when there was none. */
  epoch: number;
  isHeld: boolean;
}

/**
 * Whether an append may be stored, as a session is held. The one rule of all stores.
 * @throws `SESSION_TAKEN`
 */
export function assertHolds(
  { epoch, isHeld }: SessionHold,
  opts: Pick<SessionAppendOptions, 'epoch' | 'aside'>,
): void {
  if (opts.epoch === undefined ? !isHeld || opts.aside === true : isHeld && opts.epoch === epoch) {
    return;
  }
  throw sessionTaken(opts.epoch);
}

/** @param epoch of the claim that is over; absent where there was none */
export function sessionTaken(epoch: number | undefined): EthosError {
  return new EthosError(
    'SESSION_TAKEN',
    epoch === undefined
      ? 'a worker runs the session; wait for its end, or enqueue the turn'
      : `the claim ${epoch} of the session is over; who holds it now goes on with it`,
  );
}

/** @throws `VALUE_INVALID` */
export function assertLease(leaseMs: number): number {
  if (Number.isInteger(leaseMs) && leaseMs > 0 && leaseMs <= MAX_LEASE_MS) return leaseMs;
  throw new EthosError('VALUE_INVALID', 'leaseMs is a whole number of milliseconds, up to a day');
}
