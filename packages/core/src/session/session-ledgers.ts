import type { SessionOwner, SessionStore } from '@ethosagent/types';
import { SessionLedger } from './session-ledger.js';

type Owner = Partial<SessionOwner>;

/** Ledgers that are kept open. What is let go is read again when it is asked for. */
const MAX_OPEN = 1_000;

/** The ledgers of a store of sessions, one for each session, and one for what an owner has granted. */
export class SessionLedgers {
  readonly #store: SessionStore;
  readonly #open = new Map<string, SessionLedger>();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  ofSession(sessionId: string, owner: Owner): SessionLedger {
    return this.#ledger(['session', sessionId], owner);
  }

  /** What was granted under a personality for every session of an owner. */
  ofOwner(personalityId: string, owner: Owner): SessionLedger {
    const { scopeId, userScopeId, teamId } = owner;
    return this.#ledger(['owner', personalityId, scopeId, userScopeId, teamId], owner);
  }

  #ledger(parts: readonly (string | undefined)[], owner: Owner): SessionLedger {
    const of = parts.map((part) => encodeURIComponent(part?.toWellFormed() ?? '')).join(' ');
    const key = JSON.stringify([of, owner.userScopeId, owner.teamId]);
    const known = this.#open.get(key);
    if (known !== undefined) {
      this.#open.delete(key);
      this.#open.set(key, known);
      return known;
    }
    const ledger = new SessionLedger(this.#store, of, owner);
    this.#open.set(key, ledger);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
    return ledger;
  }
}
