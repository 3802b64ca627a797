import { isBoolean, isListOf } from '@ethosagent/policy';
import type {
  MessageRole,
  NewSessionMessage,
  SessionAppendOptions,
  SessionClaim,
  SessionInfo,
  SessionListOptions,
  SessionMatch,
  SessionMessage,
  SessionRef,
  SessionSearchOptions,
  SessionStore,
} from '@ethosagent/types';
import { answerOf, doneBy, isNumber, isRecord } from './check-answer.js';

const KIND = { code: 'STORE_UNAVAILABLE', name: 'the session store' } as const;
const ROLES: Readonly<Record<MessageRole, true>> = {
  system: true,
  user: true,
  assistant: true,
  tool: true,
};

/** A session store that checks the answers of a backend, and gives its failures a code. */
export function checkedSessions(store: SessionStore): SessionStore {
  return new CheckedSessions(store);
}

class CheckedSessions implements SessionStore {
  readonly #store: SessionStore;

  readonly claim?: NonNullable<SessionStore['claim']>;
  readonly renew?: NonNullable<SessionStore['renew']>;
  readonly release?: NonNullable<SessionStore['release']>;

  constructor(store: SessionStore) {
    this.#store = store;
    if (store.claim === undefined || store.renew === undefined || store.release === undefined) {
      return;
    }
    this.claim = (session, opts) =>
      answerOf({ kind: KIND, method: 'claim', isAnswer: isClaimOf(session.id) }, () =>
        store.claim?.(session, opts),
      );
    this.renew = (claims, opts) =>
      answerOf({ kind: KIND, method: 'renew', isAnswer: isListOf(isClaim) }, () =>
        store.renew?.(claims, opts),
      );
    this.release = (claim) => doneBy(KIND, 'release', () => store.release?.(claim));
  }

  append(
    session: SessionRef,
    messages: readonly NewSessionMessage[],
    opts?: SessionAppendOptions,
  ): Promise<readonly SessionMessage[]> {
    return answerOf({ kind: KIND, method: 'append', isAnswer: isMessages }, () =>
      this.#store.append(session, messages, opts),
    );
  }

  get(sessionId: string): Promise<SessionInfo | null> {
    const isAnswer = (value: unknown): value is SessionInfo | null =>
      value === null || (isInfo(value) && value.id === sessionId);
    return answerOf({ kind: KIND, method: 'get', isAnswer }, () => this.#store.get(sessionId));
  }

  list(opts?: SessionListOptions): Promise<SessionInfo[]> {
    return answerOf({ kind: KIND, method: 'list', isAnswer: isListOf(isInfo) }, () =>
      this.#store.list(opts),
    );
  }

  messages(
    sessionId: string,
    opts?: { afterSequence?: number; limit?: number; maxTextChars?: number },
  ): Promise<SessionMessage[]> {
    return answerOf({ kind: KIND, method: 'messages', isAnswer: isMessages }, () =>
      this.#store.messages(sessionId, opts),
    );
  }

  search(query: string, opts?: SessionSearchOptions): Promise<SessionMatch[]> {
    return answerOf({ kind: KIND, method: 'search', isAnswer: isListOf(isMatch) }, () =>
      this.#store.search(query, opts),
    );
  }

  delete(sessionId: string): Promise<boolean> {
    return answerOf({ kind: KIND, method: 'delete', isAnswer: isBoolean }, () =>
      this.#store.delete(sessionId),
    );
  }
}

function isClaim(value: unknown): value is SessionClaim {
  return isRecord(value) && typeof value.sessionId === 'string' && isNumber(value.epoch);
}

function isClaimOf(sessionId: string) {
  return (value: unknown): value is SessionClaim | null =>
    value === null || (isClaim(value) && value.sessionId === sessionId);
}

function isInfo(value: unknown): value is SessionInfo {
  return (
    isRecord(value) &&
    typeof value.id === 'string' &&
    typeof value.scopeId === 'string' &&
    isNumber(value.startedAt) &&
    isNumber(value.lastMessageAt) &&
    isNumber(value.messageCount)
  );
}

function isMessage(value: unknown): value is SessionMessage {
  return (
    isRecord(value) &&
    typeof value.sessionId === 'string' &&
    typeof value.role === 'string' &&
    Object.hasOwn(ROLES, value.role) &&
    typeof value.text === 'string' &&
    isNumber(value.sequence) &&
    isNumber(value.createdAt)
  );
}

const isMessages = isListOf(isMessage);

/** A match must be consistent: a message of another session would be shown as part of this one. */
function isMatch(value: unknown): value is SessionMatch {
  return (
    isRecord(value) &&
    isMessage(value.message) &&
    isInfo(value.session) &&
    value.message.sessionId === value.session.id &&
    typeof value.snippet === 'string' &&
    isNumber(value.score)
  );
}
