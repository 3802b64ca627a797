import {
  assertKvKey,
  assertOptions,
  DEFAULT_KV_LIMITS,
  MAX_TIMER_MS,
  type OptionNames,
} from '@ethosagent/policy';
import type { KeyValueStore } from '@ethosagent/types';
import type { SqliteDriver } from './driver/load-driver.js';
import { KV_SCHEMA } from './kv-schema.js';
import { type KvEntryRow, prepareKvTable } from './kv-table.js';
import { openStore } from './open-store.js';
import { createNamespace } from './sqlite-kv-namespace.js';
import { closedError } from './store-errors.js';
import { MAX_TEXT_LENGTH, wholeNumberOption } from './store-options.js';
import { startSweeper } from './sweeper.js';

export interface SqliteKvStoreOptions {
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
  /** Milliseconds between two removals of expired entries. 60,000 when absent. */
  sweepIntervalMs?: number;
  /** The most UTF-8 bytes of a key, prefix or scope id. 262,144 (256 KiB) when absent. */
  maxKeyBytes?: number;
  /** The most UTF-8 bytes of a value. 10,485,760 (10 MiB) when absent. */
  maxValueBytes?: number;
}

/** An entry of a store, with its namespace. */
export interface SqliteKvEntry {
  scopeId: string;
  key: string;
  value: string;
  /** When the entry expires, in milliseconds since the epoch. Absent if it never expires. */
  expiresAt?: number;
}

export interface SqliteKvStore {
  /**
   * Returns the store of one namespace. The scope id alone names the namespace: equal ids share
   * their keys, whatever the tool.
   *
   * @throws `KEY_INVALID` for a scope id that is not a well-formed string or is too long,
   * `STORE_UNAVAILABLE` after `close`
   */
  kvStoreFactory: (tool: string, scopeId: string) => Required<KeyValueStore>;
  /** Yields all entries of all namespaces, to move them to another store. */
  entries: () => AsyncGenerator<SqliteKvEntry, void, undefined>;
  /** Commits the pending writes, and closes the file. Later calls reject. */
  close: () => void;
  /** The SQLite that the store uses. */
  driver: SqliteDriver;
}

const OPTIONS: OptionNames<SqliteKvStoreOptions> = {
  path: true,
  synchronous: true,
  driver: true,
  clock: true,
  busyTimeoutMs: true,
  sweepIntervalMs: true,
  maxKeyBytes: true,
  maxValueBytes: true,
};

/**
 * Opens a key-value store in an SQLite file, for any number of processes at once.
 *
 * A write resolves when it is committed. Writes of one turn of the event loop share a transaction.
 * A read sees every earlier write to its namespace through this store, and what others committed.
 * Up to 64 reads that follow each other without a turn of the event loop see the same state of the
 * file, except for writes through this store.
 *
 * @param options the path of the file, limits in bytes, and times in milliseconds
 * @returns the store; call `close` at the end
 * @throws `STORE_CORRUPT` if the file is damaged or is not a store of this kind; it is not changed
 * @throws `STORE_NEWER` if a newer version wrote the file; it is not changed
 * @throws `STORE_UNAVAILABLE` if the file can't be opened
 * @throws `CONFIG_INVALID` for an invalid option
 * @example
 * const store = createSqliteKvStore({ path: '/var/lib/agent/kv.db' });
 * const kv = store.kvStoreFactory('usage_counter', 'tool:usage_counter');
 * await kv.increment('weather');
 * store.close();
 */
export function createSqliteKvStore(options: SqliteKvStoreOptions): SqliteKvStore {
  assertOptions(FACTORY, options, OPTIONS);
  const sweepIntervalMs = wholeNumberOption(options, 'sweepIntervalMs', {
    factory: FACTORY,
    fallback: 60_000,
    max: MAX_TIMER_MS,
  });
  const limits = {
    maxKeyBytes: bytesOption(options, 'maxKeyBytes'),
    maxValueBytes: bytesOption(options, 'maxValueBytes'),
  };
  return openStore(KIND, options, ({ db, queue, clock, read, close, driver }) => {
    const table = prepareKvTable(db);
    const sweeper = startSweeper({ table, queue, clock, intervalMs: sweepIntervalMs });
    return {
      driver,
      kvStoreFactory(_tool, scopeId) {
        if (queue.closed) throw closedError();
        assertKvKey(scopeId, limits);
        return createNamespace({ table, queue, clock, limits, read }, scopeId);
      },
      async *entries() {
        let after = { scopeId: '', key: '' };
        for (;;) {
          const page = await read(after.scopeId, () => pageOf(table.entriesAfter(after, clock())));
          for (const { expiresAt, ...entry } of page) {
            yield { ...entry, ...(expiresAt !== null && { expiresAt }) };
            after = entry;
          }
          if (page.length === 0) return;
        }
      },
      close() {
        sweeper.stop();
        close();
      },
    };
  });
}

const FACTORY = 'createSqliteKvStore';
const KIND = { factory: FACTORY, schema: KV_SCHEMA };

/** A page ends after this many rows or characters. */
const MAX_PAGE_ROWS = 500;
const MAX_PAGE_CHARS = 16_000_000;

function pageOf(rows: Iterable<KvEntryRow>): KvEntryRow[] {
  const page: KvEntryRow[] = [];
  let chars = 0;
  for (const row of rows) {
    page.push(row);
    chars += row.value.length;
    if (page.length === MAX_PAGE_ROWS || chars > MAX_PAGE_CHARS) break;
  }
  return page;
}

function bytesOption(options: SqliteKvStoreOptions, name: keyof typeof DEFAULT_KV_LIMITS): number {
  const fallback = DEFAULT_KV_LIMITS[name];
  return wholeNumberOption(options, name, {
    factory: FACTORY,
    fallback,
    max: MAX_TEXT_LENGTH,
  });
}
