/** Who wrote a message. */
export type MessageRole = 'system' | 'user' | 'assistant' | 'tool';

/** A message to be stored. */
export interface NewSessionMessage {
  role: MessageRole;
  /** The text that is read and searched. */
  text: string;
  /** The tool that a message of role `tool` is from. */
  toolName?: string;
  /** More of the message, as JSON, for the program that resumes the session. Not searched. */
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

/** The owner of a session. A search finds only sessions with exactly the same owner. */
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

/** A session to append messages to. The first append sets what is known of it. */
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
  /** How many of the best matches to leave out. */
  offset?: number;
}

/** A message that a search found. */
export interface SessionMatch {
  /** The message without its data. A long text is cut. `messages` gives both. */
  message: SessionMessage;
  session: SessionInfo;
  /** A part of the text; what was found stands between `[` and `]`. */
  snippet: string;
  /** Greater is better. */
  score: number;
}

/** Proof that somebody holds a session, so that nobody else runs it. */
export interface SessionClaim {
  sessionId: string;
  /** Greater than the epoch of every earlier claim. */
  epoch: number;
}

/** Conditions of an append. */
export interface SessionAppendOptions {
  /** Append only if the last message has this sequence; 0 for a session without messages. */
  afterSequence?: number;
  /** Append only while the claim with this epoch holds. */
  epoch?: number;
  /**
   * The messages are not part of the turn that runs; a decision on a call is an example. They are
   * appended even while somebody holds the session.
   */
  aside?: true;
}

/** The messages of all sessions. */
export interface SessionStore {
  /**
   * Appends messages to a session: all of them, or nothing. A text over the cap of the store is
   * cut.
   *
   * @param opts `afterSequence`: append only if the last message has this sequence, 0 for a session
   * without messages. Of several writers, one then wins
   * @returns the messages as they were stored
   * @throws `SESSION_OWNER_MISMATCH` when the session has another owner, `SESSION_TAKEN` when the
   * claim of `epoch` is over, and without an `epoch` while somebody holds the session;
   * `SESSION_CHANGED` when the last message has another sequence than `afterSequence`,
   * `KEY_INVALID` for an id that is not well-formed, `VALUE_INVALID` for a message that can't be
   * stored, `STORE_UNAVAILABLE`
   */
  append(
    session: SessionRef,
    messages: readonly NewSessionMessage[],
    opts?: SessionAppendOptions,
  ): Promise<readonly SessionMessage[]>;
  /**
   * Takes a session for one holder and raises its epoch. The claim holds for `leaseMs` milliseconds
   * by the clock of the store, unless it is renewed or released. The session needs no message yet.
   * A store that can't hold sessions has neither this method nor `renew` and `release`.
   *
   * @returns `null` while another claim holds
   * @throws `SESSION_OWNER_MISMATCH`, `KEY_INVALID`, `VALUE_INVALID` for an invalid lease,
   * `STORE_UNAVAILABLE`
   */
  claim?(session: SessionRef, opts: { leaseMs: number }): Promise<SessionClaim | null>;
  /**
   * Makes claims hold for `leaseMs` from now on, and returns those that hold. A claim that is over
   * stays over.
   */
  renew?(claims: readonly SessionClaim[], opts: { leaseMs: number }): Promise<SessionClaim[]>;
  /** Gives up a claim. Nothing happens when it is over. */
  release?(claim: SessionClaim): Promise<void>;
  /** What is known of a session, or `null`. */
  get(sessionId: string): Promise<SessionInfo | null>;
  /** The most recent first. */
  list(opts?: SessionListOptions): Promise<SessionInfo[]>;
  /**
   * The messages of a session in their order. A page ends at the limit, or earlier when it gets
   * large. To read all, ask again after the last sequence until no message comes. With
   * `maxTextChars` each text is cut to that many characters, and messages come without their data.
   */
  messages(
    sessionId: string,
    opts?: { afterSequence?: number; limit?: number; maxTextChars?: number },
  ): Promise<SessionMessage[]>;
  /**
   * Full-text search: first the messages that have all the words of the query, the best first, then
   * those that have some of them. Case, diacritics and the forms of English words (`plan`,
   * `planned`) don't count, but a word exactly as in the query ranks higher. Of two matches that
   * are about as good, the newer comes first. Of thousands that have all the words, or of thousands
   * that have some, a store may put the newest before the others. Words that nearly every text has,
   * such as `the` and `how`, count only where the query has no others. A part in double quotes is
   * found as it stands. No character of a query is an operator, and no text is an error.
   *
   * @throws `VALUE_INVALID` for an invalid option, or a query that is not a string
   */
  search(query: string, opts?: SessionSearchOptions): Promise<SessionMatch[]>;
  /**
   * Removes a session with its messages, and says whether it was there. `runtime.sessions` also
   * removes what a `ToolSession` keeps of the session.
   */
  delete(sessionId: string): Promise<boolean>;
}

/** Earlier sessions: those that the call's owner may see. */
export interface ScopedSessions {
  /** As `SessionStore.search`, in the sessions that the call may see. */
  search(query: string, opts?: Omit<SessionSearchOptions, 'owner'>): Promise<SessionMatch[]>;
  /** The sessions that the call may see, the most recent first. */
  list(opts?: Omit<SessionListOptions, 'owner'>): Promise<SessionInfo[]>;
  /**
   * Messages of a session, as `SessionStore.messages`. Empty for a session that the call may not
   * see.
   */
  messages(
    sessionId: string,
    opts?: { afterSequence?: number; limit?: number; maxTextChars?: number },
  ): Promise<SessionMessage[]>;
}
