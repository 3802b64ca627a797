import { sessionTaken } from '@ethosagent/policy';
import {
  EthosError,
  type SessionClaim,
  type SessionRef,
  type SessionStore,
} from '@ethosagent/types';
import type { TurnClaim } from './api.js';

/** The methods of a store that can hold sessions. */
export type ClaimingStore = Required<Pick<SessionStore, 'claim' | 'renew' | 'release'>>;

/**
 * A session that this process holds. It checks its lease without asking the store. The store counts
 * the lease from the request or later, and this class from before the request, so the lease ends
 * here first. The class reads two clocks: the monotonic one may stop while the machine sleeps, and
 * the wall clock may be set back. This check only saves work: the store refuses a late write by its
 * epoch.
 */
export class HeldSession implements TurnClaim {
  readonly sessionId: string;
  readonly epoch: number;
  #isOver = false;
  #until: Moment;

  /**
   * `AgentLoop.hold` calls this.
   *
   * @param claim the session and its epoch
   * @param until the end of the lease, on both clocks of this process, in milliseconds
   */
  constructor({ sessionId, epoch }: SessionClaim, until: Moment) {
    this.sessionId = sessionId;
    this.epoch = epoch;
    this.#until = until;
  }

  /** Whether this process still holds the session. */
  get isHeld(): boolean {
    // Once the lease has ended, it stays ended, whatever the clocks say later.
    this.#isOver ||= performance.now() >= this.#until.monotonic || Date.now() >= this.#until.wall;
    return !this.#isOver;
  }

  assertHeld(): void {
    if (!this.isHeld) throw sessionTaken(this.epoch);
  }

  /**
   * Moves the end of the lease. A lease that has ended stays ended.
   *
   * @param until the new end, on both clocks of this process, in milliseconds
   */
  extend(until: Moment): void {
    if (this.isHeld) this.#until = until;
  }

  /** Marks the session as no longer held. */
  lose(): void {
    this.#isOver = true;
  }
}

interface Moment {
  monotonic: number;
  wall: number;
}

/** The end of a lease that begins now. */
function endOfLease(leaseMs: number): Moment {
  return { monotonic: performance.now() + leaseMs, wall: Date.now() + leaseMs };
}

/** @throws `CONFIG_INVALID` for a store that can't hold sessions */
export function claimingStore(store: SessionStore): ClaimingStore {
  const { claim, renew, release } = store;
  if (claim !== undefined && renew !== undefined && release !== undefined) {
    return {
      claim: claim.bind(store),
      renew: renew.bind(store),
      release: release.bind(store),
    };
  }
  throw new EthosError(
    'CONFIG_INVALID',
    'sessions: this store can not hold sessions for workers; take that of storage-postgres or storage-sqlite',
  );
}

/**
 * Claims a session for `leaseMs` milliseconds. @returns `undefined` while another process holds it.
 * @throws as `SessionStore.claim`
 */
export async function holdSession(
  store: ClaimingStore,
  ref: SessionRef,
  leaseMs: number,
): Promise<HeldSession | undefined> {
  const until = endOfLease(leaseMs);
  const claim = await store.claim(ref, { leaseMs });
  return claim === null ? undefined : new HeldSession(claim, until);
}

/**
 * Extends the leases of held sessions. A session that is no longer held learns it here. @throws as
 * `SessionStore.renew`
 */
export async function renewHeld(
  store: ClaimingStore,
  sessions: readonly HeldSession[],
  leaseMs: number,
): Promise<void> {
  const asked = sessions.filter(({ isHeld }) => isHeld);
  if (asked.length === 0) return;
  const until = endOfLease(leaseMs);
  const renewed = await store.renew(
    asked.map(({ sessionId, epoch }) => ({ sessionId, epoch })),
    { leaseMs },
  );
  const epochs = new Set(renewed.map(({ epoch }) => epoch));
  for (const session of asked) {
    if (epochs.has(session.epoch)) session.extend(until);
    else session.lose();
  }
}
