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
    return answerOf(KIND, 'append', () => this.#store.append(session, messages, opts), isMessages);
  }

  get(sessionId: string): Promise<SessionInfo | null> {
    const isAnswer = (value: unknown): value is SessionInfo | null =>
      value === null || (isInfo(value) && value.id === sessionId);
    return answerOf(KIND, 'get', () => this.#store.get(sessionId), isAnswer);
  }

  list(opts?: SessionListOptions): Promise<SessionInfo[]> {
    return answerOf(KIND, 'list', () => this.#store.list(opts), isListOf(isInfo));
  }

  messages(
    sessionId: string,
    opts?: { afterSequence?: number; limit?: number; maxTextChars?: number },
  ): Promise<SessionMessage[]> {
    return answerOf(KIND, 'messages', () => this.#store.messages(sessionId, opts), isMessages);
  }

  search(query: string, opts?: SessionSearchOptions): Promise<SessionMatch[]> {
    return answerOf(KIND, 'search', () => this.#store.search(query, opts), isListOf(isMatch));
  }

  delete(sessionId: string): Promise<boolean> {
    return answerOf(KIND, 'delete', () => this.#store.delete(sessionId), isBoolean);
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
