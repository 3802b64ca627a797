import { EthosError, type SessionOwner, type SessionStore } from '@ethosagent/types';
import type { CapabilityBackends } from '../backends.js';
import { clearSessionStore } from '../capabilities/storage.js';
import {
  FILES_PART,
  isFilesLedger,
  isLedgerSession,
  sessionLedgerId,
  sessionOfLedger,
  sessionPart,
  taskJournalId,
} from './ledger-ids.js';
import { SessionLedger } from './session-ledger.js';
import { subAgentsOf } from './sub-agents-of.js';
import { UntrustedFiles } from './untrusted-files.js';

type Owner = Partial<SessionOwner>;

/** One `delete` of a session. */
interface Deletion {
  readonly keyValue: CapabilityBackends['kvStoreFactory'];
  /** The sessions that are deleted with it. */
  readonly seen: Set<string>;
}

/** How many ledgers are kept open. The others are read again when they are needed. */
const MAX_OPEN = 1_000;

/**
 * The ledgers in a store of sessions: one for each session, one for the grants of each owner, and
 * one for files.
 */
export class SessionLedgers {
  /** By their store, and also by the store that `sessions` returns for it. */
  static readonly #known = new WeakMap<SessionStore, SessionLedgers>();
  readonly #store: SessionStore;
  readonly #open = new Map<string, SessionLedger>();
  /** For all sessions: files have no owner. */
  readonly files: UntrustedFiles;

  /**
   * The ledgers of one store. Use `SessionLedgers.of`, so that everything in a process shares them.
   *
   * @param store where the ledgers are stored
   */
  constructor(store: SessionStore) {
    this.#store = store;
    this.files = new UntrustedFiles(new SessionLedger(store, FILES_PART));
  }

  /**
   * The ledgers of a store. Everything in this process that uses the store gets the same object.
   *
   * @param store where the ledgers are stored
   * @returns the ledgers
   */
  static of(store: SessionStore): SessionLedgers {
    const ledgers = SessionLedgers.#known.get(store) ?? new SessionLedgers(store);
    SessionLedgers.#known.set(store, ledgers);
    return ledgers;
  }

  /**
   * The ledger of a session.
   *
   * @param sessionId of the session
   * @param owner of the session
   * @returns the ledger. The last 1,000 are kept open, and are the same object for everybody
   */
  ofSession(sessionId: string, owner: Owner): SessionLedger {
    return this.#ledger(sessionPart(sessionId), owner);
  }

  /**
   * The ledger of what an owner granted under a personality for all sessions.
   *
   * @param personalityId of the personality
   * @param owner of the sessions
   * @returns the ledger. The last 1,000 are kept open, and are the same object for everybody
   */
  ofOwner(personalityId: string, owner: Owner): SessionLedger {
    const { scopeId, userScopeId, teamId } = owner;
    const parts = [personalityId, scopeId, userScopeId, teamId];
    const named = parts.map((part) => encodeURIComponent(part?.toWellFormed() ?? '')).join(' ');
    return this.#ledger(`owner ${named}`, owner);
  }

  /**
   * A store whose `delete` also removes the background tasks, the key-value store and the
   * protections of a session, in this order: an interruption leaves protections without a session,
   * and nothing of a session without protections.
   *
   * @param options `kvStoreFactory`: makes the key-value stores of the sessions. Without it, they stay
   * @returns a store over the same sessions
   */
  sessions({
    kvStoreFactory: keyValue,
  }: Pick<CapabilityBackends, 'kvStoreFactory'> = {}): SessionStore {
    const store = this.#store;
    const sessions: SessionStore = {
      append: (session, messages, opts) => store.append(session, messages, opts),
      ...claimsOf(store),
      get: (sessionId) => store.get(sessionId),
      list: (opts) => store.list(opts),
      messages: (sessionId, opts) => store.messages(sessionId, opts),
      search: (query, opts) => store.search(query, opts),
      delete: (sessionId) => this.#delete(sessionId, { keyValue, seen: new Set() }),
    };
    SessionLedgers.#known.set(sessions, this);
    return sessions;
  }

  async #delete(sessionId: string, deletion: Deletion): Promise<boolean> {
    const { keyValue, seen } = deletion;
    seen.add(sessionId);
    const held = sessionOfLedger(sessionId);
    if (held !== undefined && (await this.#store.get(held)) !== null) {
      throw new EthosError(
        'VALUE_INVALID',
        `${JSON.stringify(sessionId)} holds what protects the session ${JSON.stringify(held)}; delete that, and both go`,
      );
    }
    if (isFilesLedger(sessionId) && (await this.#store.get(sessionId)) !== null) {
      throw new EthosError(
        'VALUE_INVALID',
        `${JSON.stringify(sessionId)} holds which files are not trusted, for all sessions; clear those that you have looked at`,
      );
    }
    const wasThere = await this.#store.delete(sessionId);
    if (isLedgerSession(sessionId)) return wasThere;
    // Their list goes last: what could not be deleted is found when somebody deletes again.
    for await (const child of subAgentsOf(this.#store, sessionId)) {
      if (!seen.has(child)) await this.#delete(child, deletion);
    }
    const hadTasks = await this.#store.delete(taskJournalId(sessionId));
    const hadStore = keyValue !== undefined && (await clearSessionStore(keyValue, sessionId));
    const hadLedger = await this.#store.delete(sessionLedgerId(sessionId));
    this.#forget(sessionPart(sessionId));
    return wasThere || hadTasks || hadStore || hadLedger;
  }

  /** A session that begins now with the same id is another session. */
  #forget(of: string): void {
    for (const [key, ledger] of this.#open) {
      const [part]: unknown[] = JSON.parse(key);
      if (part !== of) continue;
      ledger.forget();
      this.#open.delete(key);
    }
  }

  #ledger(of: string, owner: Owner): SessionLedger {
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

function claimsOf(store: SessionStore): Pick<SessionStore, 'claim' | 'renew' | 'release'> {
  const { claim, renew, release } = store;
  return {
    ...(claim !== undefined && { claim: claim.bind(store) }),
    ...(renew !== undefined && { renew: renew.bind(store) }),
    ...(release !== undefined && { release: release.bind(store) }),
  };
}
