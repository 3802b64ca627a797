import { createInMemoryMemory, createInMemorySessionStore } from '@ethosagent/core';
import type { MemoryProvider, SessionRef, SessionStore } from '@ethosagent/types';

/** The user and the team of every call in a world. */
export const WORLD_PEOPLE = { userScopeId: 'contained', teamId: 'contained' } as const;

const EARLIER = 'earlier-session';

export interface WorldMemoryOptions {
  personalityId: string | undefined;
  /** The content of all memories and sessions of others. It must not appear anywhere. */
  outside: string;
}

/** The content of the calls' own memories and sessions. */
export interface Remembered {
  /** Texts by heading. */
  memory: Readonly<Record<string, string>>;
  messages: readonly string[];
}

/**
 * The memories and sessions of a world. It also contains what the calls must not read: all other
 * scopes, and the sessions of everybody else. These contain the canary.
 */
export class WorldMemory {
  readonly memory: MemoryProvider;
  readonly sessions: SessionStore;
  readonly #options: WorldMemoryOptions;
  #memory = createInMemoryMemory({ maxSectionChars: 1e9, maxDocumentChars: 1e9 });
  #sessions = createInMemorySessionStore();
  #remembered: Remembered = { memory: {}, messages: [] };
  readonly #laid = new Map<string, Promise<unknown>>();

  constructor(options: WorldMemoryOptions) {
    this.#options = options;
    this.memory = {
      read: (id) => this.#memoryOf(id).then((memory) => memory.read(id)),
      change: (id, ...rest) => this.#memoryOf(id).then((memory) => memory.change(id, ...rest)),
      search: (id, ...rest) => this.#memoryOf(id).then((memory) => memory.search(id, ...rest)),
      versions: (id, ...rest) => this.#memoryOf(id).then((memory) => memory.versions(id, ...rest)),
    };
    this.sessions = {
      append: (...given) => this.#store().then((store) => store.append(...given)),
      get: (id) => this.#store().then((store) => store.get(id)),
      list: (opts) => this.#store().then((store) => store.list(opts)),
      messages: (...given) => this.#store().then((store) => store.messages(...given)),
      search: (...given) => this.#store().then((store) => store.search(...given)),
      delete: (id) => this.#store().then((store) => store.delete(id)),
    };
  }

  /** Creates everything again. */
  lay(remembered: Remembered): void {
    this.#remembered = remembered;
    this.#memory = createInMemoryMemory({ maxSectionChars: 1e9, maxDocumentChars: 1e9 });
    this.#sessions = createInMemorySessionStore();
    this.#laid.clear();
  }

  async #memoryOf(scopeId: string): Promise<MemoryProvider> {
    const memory = this.#memory;
    const texts = this.#isOurs(scopeId)
      ? this.#remembered.memory
      : Object.fromEntries(
          Object.entries({ Notes: '', ...this.#remembered.memory }).map(([heading, text]) => [
            heading,
            `${this.#options.outside} ${text}`,
          ]),
        );
    await this.#once(`memory ${scopeId}`, async () => {
      for (const [section, text] of Object.entries(texts)) {
        await memory.change(scopeId, { kind: 'add', section, text });
      }
    });
    return memory;
  }

  async #store(): Promise<SessionStore> {
    const store = this.#sessions;
    await this.#once('sessions', async () => {
      const { outside } = this.#options;
      for (const scopeId of this.#ownScopes) {
        const ref = { ...WORLD_PEOPLE, id: `${EARLIER}-${scopeId}`, scopeId };
        await this.#append(store, ref, this.#remembered.messages);
        for (const owner of [
          { scopeId },
          { ...WORLD_PEOPLE, scopeId: 'personality:somebody-else' },
          { ...WORLD_PEOPLE, scopeId, userScopeId: 'somebody-else' },
        ]) {
          const foreign = { ...owner, id: JSON.stringify(owner) };
          const messages = this.#remembered.messages.map((text) => `${outside} ${text}`);
          await this.#append(store, foreign, [outside, ...messages]);
        }
      }
    });
    return store;
  }

  async #append(store: SessionStore, ref: SessionRef, texts: readonly string[]): Promise<void> {
    await store.append(
      ref,
      texts.map((text) => ({ role: 'user' as const, text, createdAt: 0 })),
    );
  }

  #once(what: string, lay: () => Promise<void>): Promise<unknown> {
    const laid = this.#laid.get(what) ?? lay();
    this.#laid.set(what, laid);
    return laid;
  }

  #isOurs(scopeId: string): boolean {
    return (
      ['global', `user:${WORLD_PEOPLE.userScopeId}`, `team:${WORLD_PEOPLE.teamId}`].includes(
        scopeId,
      ) || this.#ownScopes.includes(scopeId)
    );
  }

  /** The scopes of a personality, or of the scenarios' sessions. */
  get #ownScopes(): readonly string[] {
    const { personalityId } = this.#options;
    return personalityId === undefined
      ? ['session:session', 'session:first', 'session:second']
      : [`personality:${personalityId}`];
  }
}
