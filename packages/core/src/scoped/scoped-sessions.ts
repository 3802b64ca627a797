import { isSameOwner, shorten } from '@ethosagent/policy';
import {
  CapabilityError,
  type ScopedSessions,
  type SessionInfo,
  type SessionListOptions,
  type SessionMatch,
  type SessionMessage,
  type SessionOwner,
  type SessionSearchOptions,
  type SessionStore,
} from '@ethosagent/types';
import { type AccessAsked, type AccessScope, type Allow, recordAccess, textOf } from '../access.js';
import { checkedSessions } from '../checked/checked-sessions.js';
import { isOwnerless } from './memory-scopes.js';

export interface ScopedSessionsOptions {
  /** Whose sessions the call sees. It sees none if this is absent. */
  owner?: SessionOwner | undefined;
  sessionId: string;
  scope?: AccessScope | undefined;
}

const DEFAULT_LIMIT = 20;
const MAX_TARGET_CHARS = 200;
/** How many matches are asked for at once when two lists are merged. */
const MAX_PAGE = 200;

/**
 * The stored sessions of the call's owner. A session without an owner is visible only to its own
 * calls.
 */
export class ScopedSessionsImpl implements ScopedSessions {
  readonly #store: SessionStore;
  readonly #options: ScopedSessionsOptions;

  constructor(store: SessionStore, options: ScopedSessionsOptions) {
    this.#store = checkedSessions(store);
    this.#options = options;
  }

  search(query: string, opts: Omit<SessionSearchOptions, 'owner'> = {}): Promise<SessionMatch[]> {
    const words = textOf(query);
    // Copied by name: otherwise an `owner` that a tool adds would reach the store.
    const { sessionId, since, until, roles, limit, offset } = opts;
    const asked = defined({ since, until, roles, limit, offset });
    return this.#held('search', words, async (allow) => {
      if (sessionId !== undefined) {
        await this.#assertSeen(sessionId);
        allow();
        const found = await this.#store.search(words, { ...asked, sessionId });
        return found.filter(({ session }) => session.id === sessionId);
      }
      allow();
      const { owner } = this.#options;
      const current = await this.#apart();
      if (current === undefined) {
        if (owner === undefined) return [];
        const found = await this.#store.search(words, { ...asked, owner });
        return found.filter(({ session }) => this.#sees(session));
      }
      const own =
        owner === undefined ? [] : this.#pages(words, { ...asked, owner }, [offset, limit]);
      const here = this.#pages(words, { ...asked, sessionId: current.id }, [offset, limit]);
      return pageOf(bestOf(own, here), offset ?? 0, limit ?? DEFAULT_LIMIT);
    });
  }

  /**
   * All matches of a search up to the end of a page, the best first. A store limits its pages, so
   * there may be several requests.
   */
  async *#pages(
    words: string,
    asked: SessionSearchOptions,
    [offset = 0, limit = DEFAULT_LIMIT]: [offset?: number | undefined, limit?: number | undefined],
  ): AsyncGenerator<SessionMatch> {
    const end = offset + limit;
    let taken = 0;
    do {
      const size = Math.min(end - taken, MAX_PAGE);
      const page = await this.#store.search(words, { ...asked, offset: taken, limit: size });
      if (page.length === 0) return;
      taken += page.length;
      yield* page.filter(({ session }) => this.#sees(session));
    } while (taken < end);
  }

  list(opts: Omit<SessionListOptions, 'owner'> = {}): Promise<SessionInfo[]> {
    const { since, until, limit } = opts;
    const asked = defined({ since, until, limit });
    return this.#held('list', '*', async (allow) => {
      allow();
      const { owner } = this.#options;
      const own = owner === undefined ? [] : await this.#store.list({ ...asked, owner });
      const current = await this.#apart();
      const here = current !== undefined && isWithin(current, since, until) ? [current] : [];
      const seen = [...own.filter((session) => this.#sees(session)), ...here].sort(
        (a, b) => b.lastMessageAt - a.lastMessageAt,
      );
      return limit === undefined ? seen : seen.slice(0, limit);
    });
  }

  messages(
    sessionId: string,
    opts: { afterSequence?: number; limit?: number; maxTextChars?: number } = {},
  ): Promise<SessionMessage[]> {
    const { afterSequence, limit, maxTextChars } = opts;
    return this.#held('messages', textOf(sessionId), async (allow) => {
      await this.#assertSeen(sessionId);
      allow();
      const asked = defined({ afterSequence, limit, maxTextChars });
      const messages = await this.#store.messages(sessionId, asked);
      return messages.filter((message) => message.sessionId === sessionId);
    });
  }

  /**
   * Runs an access. For the tool, a session that the call may not see looks like a session without
   * messages, as does one that does not exist. The journal records a denial.
   */
  async #held<T>(
    operation: string,
    target: string,
    run: (allow: Allow) => Promise<T[]>,
  ): Promise<T[]> {
    const { owner, scope } = this.#options;
    const access: AccessAsked = {
      capability: 'sessions',
      operation,
      // Half a secret would not be found any more.
      target: shorten(scope?.redactor?.redact(target) ?? target, MAX_TARGET_CHARS),
      rule: `sessions of ${owner?.scopeId ?? 'this session'}`,
    };
    try {
      return await recordAccess(scope, access, run);
    } catch (error) {
      if (error instanceof NotSeen) return [];
      throw error;
    }
  }

  async #assertSeen(sessionId: string): Promise<void> {
    const session = await this.#store.get(sessionId);
    if (session !== null && !this.#sees(session)) throw new NotSeen();
  }

  /** The session of the call, if it is not among its owner's sessions. */
  async #apart(): Promise<SessionInfo | undefined> {
    const { owner, sessionId } = this.#options;
    const current = await this.#store.get(sessionId);
    if (current === null || isOf(current, owner)) return undefined;
    return this.#sees(current) ? current : undefined;
  }

  /** A call may not see its own session either if that belongs to somebody else. */
  #sees(session: SessionInfo): boolean {
    const isOwn = session.id === this.#options.sessionId && isOwnerless(session);
    return isOwn || isOf(session, this.#options.owner);
  }
}

class NotSeen extends CapabilityError {
  constructor() {
    super('MEMORY_SCOPE_NOT_AVAILABLE', 'the session is of another owner', 'not of this owner');
  }
}

function isOf(session: SessionInfo, owner: SessionOwner | undefined): boolean {
  return owner !== undefined && isSameOwner(session, owner);
}

/**
 * Merges two lists that are sorted, the best first. Among equal matches, the first list's come
 * first.
 */
async function* bestOf(
  first: AsyncIterable<SessionMatch> | Iterable<SessionMatch>,
  second: AsyncIterable<SessionMatch>,
): AsyncGenerator<SessionMatch> {
  const others = second[Symbol.asyncIterator]();
  let other = await others.next();
  for await (const one of first) {
    while (other.done !== true && other.value.score > one.score) {
      yield other.value;
      other = await others.next();
    }
    yield one;
  }
  for (; other.done !== true; other = await others.next()) yield other.value;
}

async function pageOf<T>(all: AsyncIterable<T>, offset: number, limit: number): Promise<T[]> {
  const page: T[] = [];
  let place = 0;
  if (limit === 0) return page;
  for await (const one of all) {
    if (place >= offset) page.push(one);
    place += 1;
    if (page.length >= limit) break;
  }
  return page;
}

function isWithin(
  session: SessionInfo,
  since: number | undefined,
  until: number | undefined,
): boolean {
  return (
    (since === undefined || session.lastMessageAt >= since) &&
    (until === undefined || session.startedAt < until)
  );
}

function defined<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const given: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key in options) {
    const value = options[key];
    if (isDefined(value)) given[key] = value;
  }
  return given;
}

function isDefined<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}
