import { MAX_TIMER_MS } from '@ethosagent/policy';
import type { Connection } from './driver/connection.js';
import { DRIVERS, loadDriver, type SqliteDriver } from './driver/load-driver.js';
import { rememberFiles } from './file-in-place.js';
import { openDatabase } from './open-database.js';
import { SharedReads } from './shared-reads.js';
import { closedError, isBusy, toStoreError } from './store-errors.js';
import { invalidOption, wholeNumberOption } from './store-options.js';
import type { StoreSchema } from './store-schema.js';
import { WriteQueue } from './write-queue.js';

/** The options that the stores of all kinds have. */
export interface StoreOptions {
  path: string;
  synchronous?: 'full' | 'normal';
  driver?: SqliteDriver;
  clock?: () => number;
  busyTimeoutMs?: number;
}

/** An open database, with the functions to read and write it. */
export interface Engine {
  db: Connection;
  driver: SqliteDriver;
  queue: WriteQueue;
  /** Returns milliseconds since the epoch. */
  clock: () => number;
  /**
   * Reads at once, or after the earlier writes of this namespace if there are any. Reads that follow
   * each other without a turn of the event loop share a snapshot.
   */
  read: <T>(namespace: string, read: () => T) => T | Promise<T>;
  /** Commits the queued writes, and closes the file. */
  close: () => void;
}

/** A kind of store. */
interface StoreKind {
  /** The function whose options these are, for messages. */
  factory: string;
  schema: StoreSchema;
}

/**
 * Opens a store of one kind.
 *
 * @param use prepares the statements of the store; if it throws, the file is closed again
 * @returns the result of `use`
 * @throws `STORE_CORRUPT` if the file is damaged or is not a store of this kind, `STORE_NEWER` if a
 * newer version wrote it, `STORE_UNAVAILABLE` if it can't be opened, `CONFIG_INVALID` for an
 * invalid option
 */
export function openStore<T>(
  { factory, schema }: StoreKind,
  options: StoreOptions,
  use: (engine: Engine) => T,
): T {
  const { path, synchronous = 'full', driver, clock = () => Date.now() } = options;
  if (typeof path !== 'string' || path === '') {
    throw invalidOption(factory, 'path', 'a file or `:memory:`');
  }
  if (synchronous !== 'full' && synchronous !== 'normal') {
    throw invalidOption(factory, 'synchronous', '`full` or `normal`');
  }
  if (driver !== undefined && !DRIVERS.includes(driver)) {
    throw invalidOption(factory, 'driver', DRIVERS.map((name) => `\`${name}\``).join(' or '));
  }
  const lockWaitMs = wholeNumberOption(options, 'busyTimeoutMs', {
    factory,
    fallback: 30_000,
    max: MAX_TIMER_MS,
  });

  const db = openDatabase({ path, synchronous, driver, schema });
  try {
    const assertInPlace = db.memory ? () => {} : rememberFiles(db.name);
    const queue = new WriteQueue(db, { lockWaitMs, assertInPlace });
    const reads = new SharedReads(db);
    return use({
      db,
      driver: loadDriver(driver).name,
      queue,
      clock,
      read: (namespace, read) => {
        if (queue.closed) throw closedError();
        if (queue.hasQueued(namespace)) return queue.run(namespace, read);
        try {
          reads.next();
          return read();
        } catch (error) {
          if (isBusy(error)) return queue.run(namespace, read);
          throw toStoreError(error);
        }
      },
      close() {
        reads.end();
        queue.close();
        db.close();
      },
    });
  } catch (error) {
    db.close();
    throw toStoreError(error, path);
  }
}
