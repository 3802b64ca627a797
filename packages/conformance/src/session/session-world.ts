import type { NewSessionMessage, SessionOwner, SessionStore } from '@ethosagent/types';
import { afterAll, beforeAll } from 'vitest';

/** A session store to test. */
export interface SessionsUnderTest {
  sessions: SessionStore;
  /** Closes the store. */
  close?: () => void | Promise<void>;
}

/** Creates an empty store that reads the time, in milliseconds, from `clock`. */
export type CreateSessions = (options: {
  clock: () => number;
}) => SessionsUnderTest | Promise<SessionsUnderTest>;

/** One store for all tests of a suite. Each test uses sessions of its own. */
export class SessionWorld {
  declare store: SessionStore;
  /** The time that the store reads, in milliseconds. */
  now = 1_700_000_000_000;
  #count = 0;

  constructor(create: CreateSessions) {
    let subject: SessionsUnderTest;
    beforeAll(async () => {
      subject = await create({ clock: () => this.now });
      this.store = subject.sessions;
    });
    afterAll(() => subject.close?.());
  }

  /** An owner and a session id that no other test uses. */
  fresh(): { id: string; scopeId: string } {
    this.#count += 1;
    return { id: `suite-session-${this.#count}`, scopeId: `suite:${this.#count}` };
  }

  /** Returns the texts that a search finds, sorted. */
  async textsOf(query: string, opts: Parameters<SessionStore['search']>[1]): Promise<string[]> {
    return (await this.store.search(query, opts)).map(({ message }) => message.text).sort();
  }
}

export function ownerOf({ scopeId }: { scopeId: string }): SessionOwner {
  return { scopeId };
}

export function user(text: string, createdAt?: number): NewSessionMessage {
  return {
    role: 'user',
    text,
    ...(createdAt !== undefined && { createdAt }),
  };
}
