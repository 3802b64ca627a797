import type {
  MessageRole,
  NewSessionMessage,
  SessionInfo,
  SessionListOptions,
  SessionMatch,
  SessionMessage,
  SessionRef,
  SessionSearchOptions,
  SessionStore,
} from '@ethosagent/types';
import { answerOf, isBoolean, isListOf, isNumber, isRecord } from './check-answer.js';

const KIND = { code: 'STORE_UNAVAILABLE', name: 'the session store' } as const;
const ROLES: Readonly<Record<MessageRole, true>> = {
  system: true,
  user: true,
  assistant: true,
  tool: true,
};

/** A session store whose failures are typed, and whose answers are what they should be. */
export function checkedSessions(store: SessionStore): SessionStore {
  return new CheckedSessions(store);
}

class CheckedSessions implements SessionStore {
  readonly #store: SessionStore;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  append(
    session: SessionRef,
    messages: readonly NewSessionMessage[],
    opts?: { afterSequence?: number },
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

/** A match tells of one session: a message of another would be shown as what it is not. */
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
