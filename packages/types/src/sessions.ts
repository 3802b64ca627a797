/** Who wrote a message. */
export type MessageRole = 'system' | 'user' | 'assistant' | 'tool';

/** A message to be stored. */
export interface NewSessionMessage {
  role: MessageRole;
  /** What is read and searched. */
  text: string;
  /** The tool that a message of role `tool` is from. */
  toolName?: string;
  /** What else belongs to it, as JSON, for whoever resumes the session. Not searched. */
  data?: unknown;
  /** Milliseconds since the epoch; now when absent. */
  createdAt?: number;
}

/** A stored message. */
export interface SessionMessage extends NewSessionMessage {
  /** Its place in the session, from 1. */
  sequence: number;
  sessionId: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

/** Whose session it is. Who searches sees the sessions with the very same owner. */
export interface SessionOwner {
  /** The id of the memory scope that the session runs under, e.g. `personality:researcher`. */
  scopeId: string;
  userScopeId?: string;
  teamId?: string;
}

/** What is known of a session. */
export interface SessionInfo extends SessionOwner {
  id: string;
  /** For people, e.g. `cli:my-repo`. */
  key?: string;
  personalityId?: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Milliseconds since the epoch. */
  lastMessageAt: number;
  messageCount: number;
}

/** A session that messages are appended to; what is known of it is set by the first append. */
export interface SessionRef extends SessionOwner {
  id: string;
  key?: string;
  personalityId?: string;
}

export interface SessionListOptions {
  owner?: SessionOwner;
  /** Only sessions with a message at or after this time, or before that one. */
  since?: number;
  /** Milliseconds since the epoch. */
  until?: number;
  /** The most sessions. */
  limit?: number;
}

export interface SessionSearchOptions {
  owner?: SessionOwner;
  sessionId?: string;
  /** Only messages at or after this time, or before that one. Milliseconds since the epoch. */
  since?: number;
  /** Milliseconds since the epoch. */
  until?: number;
  roles?: readonly MessageRole[];
  /** 20 when absent. */
  limit?: number;
  /** How many of the best matches are left out. */
  offset?: number;
}

/** A message that a search found. */
export interface SessionMatch {
  /** Without its data, and a long text is cut: `messages` has both. */
  message: SessionMessage;
  session: SessionInfo;
  /** A part of the text; what was found stands between `[` and `]`. */
  snippet: string;
  /** Greater is better. */
  score: number;
}

/** A session that somebody holds, so that nobody else runs it. */
export interface SessionClaim {
  sessionId: string;
  /** Greater than that of every claim before it. */
  epoch: number;
}

/** What an append depends on. */
export interface SessionAppendOptions {
  /** Only if this is the sequence of the last message, 0 for a session that has none. */
  afterSequence?: number;
  /** Only while the claim with this epoch holds. */
  epoch?: number;
  /** It takes no part in the turn that runs, as a decision on a call: also while somebody holds the session. */
  aside?: true;
}

/** The messages of all sessions. */
export interface SessionStore {
  /**
   * Appends messages to a session, all or none. A text over the cap of the store is cut.
   *
   * @param opts `afterSequence`: only if this is the sequence of the last message, 0 for a session
   * that has none, so that of several writers one goes first
   * @returns the messages as they were stored
   * @throws `SESSION_OWNER_MISMATCH` when the session has another owner, `SESSION_TAKEN` when the
   * claim of `epoch` is over, and without an `epoch` while somebody holds the session;
   * `SESSION_CHANGED` when its last message is another one than `afterSequence`, `KEY_INVALID` for an id
   * that is not well-formed, `VALUE_INVALID` for a message that can't be stored,
   * `STORE_UNAVAILABLE`
   */
  append(
    session: SessionRef,
    messages: readonly NewSessionMessage[],
    opts?: SessionAppendOptions,
  ): Promise<readonly SessionMessage[]>;
  /**
   * Takes a session for one owner and raises its epoch. By the clock of the store the claim holds for
   * `leaseMs` milliseconds, unless it is renewed or released. It needs no message to be there.
   * Absent, with `renew` and `release`, where the store can't hold sessions.
   *
   * @returns `null` while another claim holds
   * @throws `SESSION_OWNER_MISMATCH`, `KEY_INVALID`, `VALUE_INVALID` for an invalid lease,
   * `STORE_UNAVAILABLE`
   */
  claim?(session: SessionRef, opts: { leaseMs: number }): Promise<SessionClaim | null>;
  /** Has claims hold for `leaseMs` from now on, and gives those that do. One that is over stays over. */
  renew?(claims: readonly SessionClaim[], opts: { leaseMs: number }): Promise<SessionClaim[]>;
  /** Gives up a claim. Nothing happens when it is over. */
  release?(claim: SessionClaim): Promise<void>;
  /** What is known of a session, or `null`. */
  get(sessionId: string): Promise<SessionInfo | null>;
  /** The most recent first. */
  list(opts?: SessionListOptions): Promise<SessionInfo[]>;
  /**
   * The messages of a session in their order. A page ends at the limit, and before when it gets
   * large: whoever wants all goes on after the last sequence until none comes. With `maxTextChars`
   * each text is cut to so many characters, and comes without its data.
   */
  messages(
    sessionId: string,
    opts?: { afterSequence?: number; limit?: number; maxTextChars?: number },
  ): Promise<SessionMessage[]>;
  /**
   * Full-text search: the messages that have all the words of the query, the best first, then those
   * that have some of them. Case, diacritics and the forms of English words (`plan`, `planned`) don't
   * count, but what is as it was asked for comes first; of what is about as good, the newer does.
   * Words that nearly every text has, as `the` and `how`, count where there are no others. A part in
   * double quotes is found as it is. No character of a query is an operator, and none is an error.
   */
  search(query: string, opts?: SessionSearchOptions): Promise<SessionMatch[]>;
  /**
   * Removes a session with its messages, and says whether it was there. `runtime.sessions` removes
   * with it what a `ToolSession` keeps of it.
   */
  delete(sessionId: string): Promise<boolean>;
}

/** Earlier sessions, held to those that the call's owner may see. */
export interface ScopedSessions {
  /** As `SessionStore.search`, in the sessions that the call may see. */
  search(query: string, opts?: Omit<SessionSearchOptions, 'owner'>): Promise<SessionMatch[]>;
  /** The sessions that the call may see, the most recent first. */
  list(opts?: Omit<SessionListOptions, 'owner'>): Promise<SessionInfo[]>;
  /** Messages of a session, as `SessionStore.messages`; none of one that the call may not see. */
  messages(
    sessionId: string,
    opts?: { afterSequence?: number; limit?: number; maxTextChars?: number },
  ): Promise<SessionMessage[]>;
}
