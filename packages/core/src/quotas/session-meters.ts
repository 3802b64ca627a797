import { Meter } from './meter.js';

/** Sessions without a running call of which the meters are kept. */
export const MAX_IDLE_SESSIONS = 10_000;

interface Session {
  readonly meter: Meter;
  calls: number;
}

/** The meters of sessions. Of those in which nothing runs, the ones quiet longest go first. */
export class SessionMeters {
  readonly #busy = new Map<string, Session>();
  readonly #idle = new Map<string, Session>();

  /** The meter of a session, for one call. `leave` is called once, when the call has ended. */
  enter(sessionId: string): { meter: Meter; leave: () => void } {
    const session = this.#busy.get(sessionId) ??
      this.#idle.get(sessionId) ?? { meter: new Meter(), calls: 0 };
    this.#idle.delete(sessionId);
    this.#busy.set(sessionId, session);
    session.calls++;
    return { meter: session.meter, leave: () => this.#leave(sessionId, session) };
  }

  /** What the session used no longer counts. Calls that run go on with what they have. */
  forget(sessionId: string): void {
    this.#busy.delete(sessionId);
    this.#idle.delete(sessionId);
  }

  #leave(sessionId: string, session: Session): void {
    session.calls--;
    // Another, when it was forgotten meanwhile.
    if (session.calls > 0 || this.#busy.get(sessionId) !== session) return;
    this.#busy.delete(sessionId);
    this.#idle.set(sessionId, session);
    const [quietest] = this.#idle.keys();
    if (this.#idle.size > MAX_IDLE_SESSIONS && quietest !== undefined) this.#idle.delete(quietest);
  }
}
