import type { KeyValueStore, QuotaLimits } from '@ethosagent/types';
import { Meter } from './meter.js';
import { type CountingStore, SharedUse } from './shared-use.js';

/** How many meters are kept of sessions in which no call runs. */
export const MAX_IDLE_SESSIONS = 10_000;

interface Session {
  readonly meter: Meter;
  readonly shared: SharedUse | undefined;
  calls: number;
}

/**
 * The meters of sessions. If there are too many, the sessions without a running call go first, the
 * longest quiet one before the others.
 */
export class SessionMeters {
  readonly #busy = new Map<string, Session>();
  readonly #idle = new Map<string, Session>();
  readonly #store: CountingStore | undefined;

  /** @param store holds the counts of all processes; without it each process counts alone */
  constructor(store?: KeyValueStore) {
    if (store !== undefined && canCount(store)) this.#store = store;
  }

  /** Whether other processes count for the same sessions. */
  get areShared(): boolean {
    return this.#store !== undefined;
  }

  /** The meter of a session, for one call. `leave` is called once, when the call has ended. */
  enter(sessionId: string): { meter: Meter; leave: () => void } {
    const { session, leave } = this.#enter(sessionId);
    return { meter: session.meter, leave };
  }

  /**
   * Tells other processes what the session used here of the capped quotas, and learns what it used
   * there. If another process has ended the session, its use begins at zero here, too.
   * @throws what the store throws
   */
  async exchange(sessionId: string, caps: QuotaLimits): Promise<void> {
    // The session counts as busy while this waits, so that its meter is not dropped.
    const { session, leave } = this.#enter(sessionId);
    try {
      await session.shared?.exchange(caps);
    } finally {
      leave();
    }
    if (session.shared?.wasRemoved !== true) return;
    if (this.#find(sessionId) === session) this.forget(sessionId);
    await this.exchange(sessionId, caps);
  }

  /**
   * Tells other processes what the processes that were left running have used. What the store
   * doesn't take is lost.
   */
  async exchangeRest(): Promise<void> {
    const sessions = [...this.#busy.values(), ...this.#idle.values()];
    const shared = sessions.flatMap((session) => session.shared ?? []);
    await Promise.allSettled(shared.filter((use) => use.hasMore).map((use) => use.exchange()));
  }

  /** Drops what the session used in this process. Running calls keep their meter. */
  forget(sessionId: string): void {
    this.#busy.delete(sessionId);
    this.#idle.delete(sessionId);
  }

  /** As `forget`, in all processes. @throws what the store throws */
  async forgetEverywhere(sessionId: string): Promise<void> {
    const { shared } = this.#find(sessionId);
    this.forget(sessionId);
    await shared?.remove();
  }

  #enter(sessionId: string): { session: Session; leave: () => void } {
    const session = this.#find(sessionId);
    this.#idle.delete(sessionId);
    this.#busy.set(sessionId, session);
    session.calls++;
    return { session, leave: () => this.#leave(sessionId, session) };
  }

  #find(sessionId: string): Session {
    const known = this.#busy.get(sessionId) ?? this.#idle.get(sessionId);
    if (known !== undefined) return known;
    const meter = new Meter();
    const shared = this.#store && new SharedUse(this.#store, { sessionId, meter });
    return { meter, shared, calls: 0 };
  }

  #leave(sessionId: string, session: Session): void {
    session.calls--;
    // If the session was forgotten meanwhile, another one may have its id.
    if (session.calls > 0 || this.#busy.get(sessionId) !== session) return;
    this.#busy.delete(sessionId);
    this.#idle.set(sessionId, session);
    const [quietest] = this.#idle.keys();
    if (this.#idle.size > MAX_IDLE_SESSIONS && quietest !== undefined) this.#idle.delete(quietest);
  }
}

function canCount(store: KeyValueStore): store is CountingStore {
  return typeof store.increment === 'function';
}
