import {
  DefaultToolSession,
  SessionLedger,
  SessionLedgers,
  type SessionTools,
  sessionRef,
  type ToolSessionParts,
  type UntrustedFiles,
} from '@ethosagent/core';
import type { SessionStore } from '@ethosagent/types';
import type { StoresByName } from './stores/runtime-stores.js';

/** The parts of a runtime that its sessions use. */
export interface RuntimeSessionsParts {
  readonly store: SessionStore;
  readonly keyValue: StoresByName['keyValue'];
  readonly tools: SessionTools;
  readonly activePersonality: () => string;
  /** The session of calls that name none. */
  readonly sessionId: string;
  /** Whether the host named it. Only then it is stored. */
  readonly isNamed: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The sessions of a runtime, each with its protections. */
export class RuntimeSessions {
  /** The store of sessions, which the host fills. */
  readonly store: SessionStore;
  readonly #parts: RuntimeSessionsParts;
  readonly #ledgers: SessionLedgers;
  /** The ledger of the runtime's own session, whose id nobody else can name. */
  #ownLedger: SessionLedger;

  constructor(parts: RuntimeSessionsParts) {
    this.#parts = parts;
    this.#ledgers = SessionLedgers.of(parts.store);
    this.store = this.#ledgers.sessions({ kvStoreFactory: parts.keyValue });
    this.#ownLedger = new SessionLedger(undefined, parts.sessionId);
  }

  /** The files that calls of all sessions changed when they could use untrusted content. */
  get files(): UntrustedFiles {
    return this.#ledgers.files;
  }

  open(
    id: string,
    options: Pick<ToolSessionParts, 'personality' | 'approve' | 'identity' | 'limits' | 'images'>,
  ): DefaultToolSession {
    const { tools, activePersonality, sessionId, isNamed, now } = this.#parts;
    const { identity } = options;
    const isOwn = id === sessionId && !isNamed;
    return new DefaultToolSession({
      ...options,
      id,
      tools,
      activePersonality,
      ledger: isOwn ? this.#ownLedger : this.#ledgers.ofSession(id, identity),
      ownerLedger: (personalityId) =>
        this.#ledgers.ofOwner(personalityId, sessionRef(id, personalityId, identity)),
      files: this.#ledgers.files,
      now,
    });
  }

  /** If the runtime's own session ends, drops what is known about it. */
  forget(sessionId: string): void {
    if (sessionId === this.#parts.sessionId) {
      this.#ownLedger = new SessionLedger(undefined, sessionId);
    }
  }
}
