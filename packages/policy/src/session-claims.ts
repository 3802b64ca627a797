import { EthosError, type SessionAppendOptions } from '@ethosagent/types';

/**
 * The longest lease in milliseconds: one day. If the owner of a session disappears, the session is free
 * after this time at the latest.
 */
export const MAX_LEASE_MS = 86_400_000;

/** How a session is held, by the clock of its store. */
export interface SessionHold {
  /** Of the last claim; 0 when there was none. */
  epoch: number;
  isHeld: boolean;
}

/**
 * Checks that an append may be stored while the session is held as it is. All stores ask this one
 * function.
 *
 * It is a fence. A worker whose lease is over may go on without knowing it, by its own clock or after a
 * pause. Each claim has a higher epoch than the one before, each append names the epoch that it was made
 * under, and the store compares them in the transaction of the write. So a worker can't write after
 * somebody else took the session, whatever its clock says.
 *
 * @param hold the epoch of the last claim, and whether it still holds
 * @param opts the epoch of the writer, and whether it writes aside from a turn
 * @throws `SESSION_TAKEN` when somebody else holds the session, or the writer's claim is over
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

/**
 * The error for a session that another worker holds, or for a claim that is over.
 *
 * @param epoch of the claim that is over; absent where there was none
 * @returns a `SESSION_TAKEN`, to be thrown
 */
export function sessionTaken(epoch: number | undefined): EthosError {
  return new EthosError(
    'SESSION_TAKEN',
    epoch === undefined
      ? 'a worker runs the session; wait for its end, or enqueue the turn'
      : `the claim ${epoch} of the session is over; who holds it now goes on with it`,
  );
}

/**
 * Checks how long a claim is to last.
 *
 * @param leaseMs milliseconds, from 1 to a day
 * @returns the same number
 * @throws `VALUE_INVALID` for any other number
 */
export function assertLease(leaseMs: number): number {
  if (Number.isInteger(leaseMs) && leaseMs > 0 && leaseMs <= MAX_LEASE_MS) return leaseMs;
  throw new EthosError('VALUE_INVALID', 'leaseMs is a whole number of milliseconds, up to a day');
}
