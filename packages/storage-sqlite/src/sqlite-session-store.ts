import {
  assertKvKey,
  assertLease,
  assertOptions,
  checkedRef,
  countOf,
  DEFAULT_KV_LIMITS,
  messageRow,
  momentOf,
  type OptionNames,
  ownerIdentity,
} from '@ethosagent/policy';
import type { SessionMessage, SessionStore } from '@ethosagent/types';
import type { SqliteDriver } from './driver/load-driver.js';
import { openStore } from './open-store.js';
import { messageOf, sessionOf } from './session-rows.js';
import { SESSION_SCHEMA } from './session-schema.js';
import { prepareSessionSearch } from './session-search.js';
import { prepareSessionTable } from './session-table.js';
import { MAX_TEXT_LENGTH, wholeNumberOption } from './store-options.js';

export interface SqliteSessionStoreOptions {
  /** The database file, or `:memory:`. It is created (0600) with its missing folders (0700). */
  path: string;
  /** What an acknowledged write survives: `full` (default) a power loss, `normal` a crash. */
  synchronous?: 'full' | 'normal';
  /** The SQLite to use. When absent, better-sqlite3 if it loads, or else that of Node. */
  driver?: SqliteDriver;
  /** Returns milliseconds since the epoch. `Date.now` when absent. */
  clock?: () => number;
  /** Milliseconds that a call waits for locks of other processes. 30,000 when absent. */
  busyTimeoutMs?: number;
  /** The most characters of a message's text; the rest is cut off. 1,000,000 when absent. */
  maxTextChars?: number;
  /** The most characters of a message's data as JSON; more is refused. 10,000,000 when absent. */
  maxDataChars?: number;
}

/** A `SessionStore` in a file. */
export interface SqliteSessionStore extends SessionStore {
  /** Yields the ids of all sessions, to move them to another store. */
  ids: () => AsyncGenerator<string, void, undefined>;
  /** Commits the pending writes, and closes the file. Later calls reject. */
  close: () => void;
}

const FACTORY = 'createSqliteSessionStore';
const KIND = { factory: FACTORY, schema: SESSION_SCHEMA };

/** A single namespace, so that every call sees all earlier writes. */
const NAMESPACE = 'sessions';

const DEFAULT_SESSIONS = 100;
const MAX_SESSIONS = 1_000;
const DEFAULT_MESSAGES = 1_000;
const MAX_MESSAGES = 10_000;

/** A page of messages ends after this many characters of texts and data. */
const MAX_PAGE_CHARS = 16_000_000;

const OPTIONS: OptionNames<SqliteSessionStoreOptions> = {
  path: true,
  synchronous: true,
  driver: true,
  clock: true,
  busyTimeoutMs: true,
  maxTextChars: true,
  maxDataChars: true,
};

/**
 * Opens the messages of sessions in an SQLite file, for any number of processes at once.
 *
 * A search returns first the messages with all words of the query, and then those with some of
 * them. It ignores case, diacritics and the endings of English words. In each group the messages
 * with the best scores (BM25) come first, and of similar scores the latest.
 *
 * @param options the path of the file, and limits in characters
 * @returns the store; call `close` at the end
 * @throws `STORE_CORRUPT` if the file is damaged or is not a store of this kind; it is not changed
 * @throws `STORE_NEWER` if a newer version wrote the file; it is not changed
 * @throws `STORE_UNAVAILABLE` if the file can't be opened
 * @throws `CONFIG_INVALID` for an invalid option
 * @example
 * const sessions = createSqliteSessionStore({ path: '/var/lib/agent/sessions.db' });
 * await sessions.append({ id: 's1', scopeId: 'personality:researcher' }, [
 *   { role: 'user', text: 'Where is the café?' },
 * ]);
 * const [match] = await sessions.search('cafe'); // match.snippet: 'Where is the [café]?'
 * sessions.close();
 */
export function createSqliteSessionStore(options: SqliteSessionStoreOptions): SqliteSessionStore {
  assertOptions(FACTORY, options, OPTIONS);
  const limits = {
    maxTextChars: wholeNumberOption(options, 'maxTextChars', {
      factory: FACTORY,
      fallback: 1_000_000,
      max: MAX_TEXT_LENGTH,
    }),
    maxDataChars: wholeNumberOption(options, 'maxDataChars', {
      factory: FACTORY,
      fallback: 10_000_000,
      max: MAX_TEXT_LENGTH,
    }),
  };
  return openStore(KIND, options, ({ db, queue, clock, read, close }) => {
    const table = prepareSessionTable(db);
    const search = prepareSessionSearch(db, table, clock);
    const reading = async <T>(of: () => T): Promise<T> => read(NAMESPACE, of);

    return {
      async append(session, messages, opts = {}) {
        const key = { ...checkedRef(session), identity: ownerIdentity(session) };
        const now = clock();
        const rows = messages.map((message) => messageRow(message, now, limits));
        if (rows.length === 0) return [];
        const before = await queue.run(NAMESPACE, () => table.append(key, rows, { ...opts, now }));
        return rows.map((row, index) =>
          messageOf({ ...row, sessionId: key.id, sequence: before + index + 1 }),
        );
      },
      async claim(session, { leaseMs }) {
        const key = { ...checkedRef(session), identity: ownerIdentity(session) };
        const lease = assertLease(leaseMs);
        const epoch = await queue.run(NAMESPACE, () => table.claim(key, clock(), lease));
        return epoch === undefined ? null : { sessionId: key.id, epoch };
      },
      async renew(claims, { leaseMs }) {
        const lease = assertLease(leaseMs);
        for (const { sessionId } of claims) assertKvKey(sessionId, DEFAULT_KV_LIMITS);
        return queue.run(NAMESPACE, () => {
          const now = clock();
          return claims.filter((claim) => table.extend(claim, now, now + lease));
        });
      },
      async release(claim) {
        assertKvKey(claim.sessionId, DEFAULT_KV_LIMITS);
        await queue.run(NAMESPACE, () => table.extend(claim, clock(), 0));
      },
      async get(sessionId) {
        assertKvKey(sessionId, DEFAULT_KV_LIMITS);
        return reading(() => {
          const row = table.get(sessionId);
          return row === undefined ? null : sessionOf(row);
        });
      },
      async list(opts = {}) {
        const identity = opts.owner === undefined ? undefined : ownerIdentity(opts.owner);
        const filter = {
          since: momentOf('since', opts.since, Number.NEGATIVE_INFINITY),
          until: momentOf('until', opts.until, Number.POSITIVE_INFINITY),
          limit: countOf('limit', opts.limit, { fallback: DEFAULT_SESSIONS, max: MAX_SESSIONS }),
        };
        return reading(() => {
          if (identity === undefined) return table.list(filter).map(sessionOf);
          const owner = table.owner(identity);
          return owner === undefined ? [] : table.list({ ...filter, owner }).map(sessionOf);
        });
      },
      async messages(sessionId, opts = {}) {
        assertKvKey(sessionId, DEFAULT_KV_LIMITS);
        const after = momentOf('afterSequence', opts.afterSequence, 0);
        const limit = countOf('limit', opts.limit, {
          fallback: DEFAULT_MESSAGES,
          max: MAX_MESSAGES,
        });
        const maxTextChars =
          opts.maxTextChars === undefined
            ? undefined
            : countOf('maxTextChars', opts.maxTextChars, { fallback: 0, max: MAX_TEXT_LENGTH });
        return reading(() => {
          const page: SessionMessage[] = [];
          let chars = 0;
          const rows =
            maxTextChars === undefined
              ? table.messages(sessionId, after, limit)
              : table.beginnings(sessionId, { after, limit, maxTextChars });
          for (const row of rows) {
            page.push(messageOf(row));
            chars += row.text.length + (row.data?.length ?? 0);
            if (chars > MAX_PAGE_CHARS) break;
          }
          return page;
        });
      },
      async search(query, opts = {}) {
        return reading(search.search(query, opts));
      },
      async delete(sessionId) {
        assertKvKey(sessionId, DEFAULT_KV_LIMITS);
        return queue.run(NAMESPACE, () => table.remove(sessionId));
      },
      async *ids() {
        let after = 0;
        for (;;) {
          const page = await reading(() => table.idsAfter(after, MAX_SESSIONS));
          for (const { rowid, id } of page) {
            yield id;
            after = rowid;
          }
          if (page.length === 0) return;
        }
      },
      close,
    };
  });
}
