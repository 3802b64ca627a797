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
 * A session that is held here. It knows without asking whether it still is: the store counts the lease
 * from the moment of the request or later, and this class from before the request, so that it ends here
 * first. It asks two clocks, since the monotonic one may stand still while the machine sleeps, and the
 * wall clock may be set back. This only saves work: the store refuses a late write by its epoch.
 */
export class HeldSession implements TurnClaim {
  readonly sessionId: string;
  readonly epoch: number;
  #isOver = false;
  #until: Moment;

  /**
   * `AgentLoop.hold` makes one.
   *
   * @param claim the session and its epoch
   * @param until when it is over, by the clocks of this process
   */
  constructor({ sessionId, epoch }: SessionClaim, until: Moment) {
    this.sessionId = sessionId;
    this.epoch = epoch;
    this.#until = until;
  }

  /** Whether nobody else can hold the session. */
  get isHeld(): boolean {
    // Once the lease has ended, it stays ended, whatever the clocks say later.
    this.#isOver ||= performance.now() >= this.#until.monotonic || Date.now() >= this.#until.wall;
    return !this.#isOver;
  }

  assertHeld(): void {
    if (!this.isHeld) throw sessionTaken(this.epoch);
  }

  /** @param until when it is over, by the clocks of this process */
  extend(until: Moment): void {
    if (this.isHeld) this.#until = until;
  }

  /** It is not held any more. */
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

/** @returns `undefined` while another process holds it. @throws as `SessionStore.claim` */
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
