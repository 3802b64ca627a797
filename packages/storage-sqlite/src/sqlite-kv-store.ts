import { assertKvKey, DEFAULT_KV_LIMITS } from '@ethosagent/policy';
import { EthosError, type KeyValueStore } from '@ethosagent/types';
import { rememberFiles } from './file-in-place.js';
import { prepareKvTable } from './kv-table.js';
import { openKvDatabase } from './open-database.js';
import { createNamespace } from './sqlite-kv-namespace.js';
import { closedError, toStoreError } from './store-errors.js';
import { startSweeper } from './sweeper.js';
import { WriteQueue } from './write-queue.js';

export interface SqliteKvStoreOptions {
  /** The database file, or `:memory:`. It is created (0600) with its missing folders (0700). */
  path: string;
  /** What an acknowledged write survives: `full` (default) a power loss, `normal` a crash. */
  synchronous?: 'full' | 'normal';
  /** Milliseconds since the epoch; `Date.now` when absent. */
  clock?: () => number;
  /** Milliseconds that a call waits for locks of other processes. 30,000 when absent. */
  busyTimeoutMs?: number;
  /** Milliseconds between removals of what has expired. 60,000 when absent. */
  sweepIntervalMs?: number;
  /** Bytes of UTF-8 that a key, prefix or scope id may have. 262,144 (256 KiB) when absent. */
  maxKeyBytes?: number;
  /** Bytes of UTF-8 that a value may have. 10,485,760 (10 MiB) when absent. */
  maxValueBytes?: number;
}

export interface SqliteKvStore {
  /**
   * The store of one namespace. The scope id alone is the namespace; equal ids share their keys.
   *
   * @throws `KEY_INVALID` for a scope id that can't be stored as given, `STORE_UNAVAILABLE` after
   * `close`
   */
  kvStoreFactory: (tool: string, scopeId: string) => Required<KeyValueStore>;
  /** Commits the writes on their way and closes the file. Calls after it reject. */
  close: () => void;
}

/**
 * Opens a key-value store in an SQLite file, for any number of processes at once.
 *
 * A write is acknowledged when it is committed; the writes of one turn of the event loop share a
 * transaction. A read sees every write of its namespace that this store was asked for before.
 *
 * @throws `STORE_CORRUPT`, `STORE_NEWER` (the file is left untouched), `STORE_UNAVAILABLE`,
 * `CONFIG_INVALID`
 * @example
 * const store = createSqliteKvStore({ path: '/var/lib/agent/kv.db' });
 * const kv = store.kvStoreFactory('usage_counter', 'tool:usage_counter');
 * await kv.increment('weather');
 * store.close();
 */
export function createSqliteKvStore(options: SqliteKvStoreOptions): SqliteKvStore {
  const { path, synchronous = 'full', clock = () => Date.now() } = options;
  if (typeof path !== 'string' || path === '') throw invalid('path', 'a file or `:memory:`');
  if (synchronous !== 'full' && synchronous !== 'normal') {
    throw invalid('synchronous', '`full` or `normal`');
  }
  const busyTimeoutMs = wholeNumber(options, 'busyTimeoutMs', 30_000, MAX_TIMER_MS);
  const sweepIntervalMs = wholeNumber(options, 'sweepIntervalMs', 60_000, MAX_TIMER_MS);
  const limits = {
    maxKeyBytes: wholeNumber(options, 'maxKeyBytes', DEFAULT_KV_LIMITS.maxKeyBytes, MAX_TEXT_BYTES),
    maxValueBytes: wholeNumber(
      options,
      'maxValueBytes',
      DEFAULT_KV_LIMITS.maxValueBytes,
      MAX_TEXT_BYTES,
    ),
  };

  const db = openKvDatabase({ path, synchronous });
  try {
    const table = prepareKvTable(db);
    const assertInPlace = db.memory ? () => {} : rememberFiles(db.name);
    const queue = new WriteQueue(db, { lockWaitMs: busyTimeoutMs, assertInPlace });
    const sweeper = startSweeper({ table, queue, clock, intervalMs: sweepIntervalMs });
    return {
      kvStoreFactory(_tool, scopeId) {
        if (queue.closed) throw closedError();
        assertKvKey(scopeId, limits);
        return createNamespace({ table, queue, clock, limits }, scopeId);
      },
      close() {
        sweeper.stop();
        queue.close();
        db.close();
      },
    };
  } catch (error) {
    db.close();
    throw toStoreError(error);
  }
}

/** The longest delay that a timer of Node takes. */
const MAX_TIMER_MS = 2_147_483_647;

/** Half of what V8 holds in one string, and far below SQLite's own limit of a billion. */
const MAX_TEXT_BYTES = 268_435_456;

type NumberOption = 'busyTimeoutMs' | 'sweepIntervalMs' | 'maxKeyBytes' | 'maxValueBytes';

function wholeNumber(
  options: SqliteKvStoreOptions,
  name: NumberOption,
  fallback: number,
  max: number,
): number {
  const value = options[name] ?? fallback;
  if (Number.isInteger(value) && value > 0 && value <= max) return value;
  throw invalid(name, `a whole number from 1 to ${max}`);
}

function invalid(name: string, wanted: string): EthosError {
  return new EthosError('CONFIG_INVALID', `createSqliteKvStore: ${name} must be ${wanted}`);
}
