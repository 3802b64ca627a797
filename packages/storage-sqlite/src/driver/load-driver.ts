import { loadBetterSqlite } from './better-sqlite.js';
import type { Driver } from './connection.js';
import { loadNodeSqlite } from './node-sqlite.js';

/** An SQLite that the stores run on. */
export type SqliteDriver = 'better-sqlite3' | 'node:sqlite';

/** The first that loads is taken. */
export const DRIVERS: readonly SqliteDriver[] = ['better-sqlite3', 'node:sqlite'];

const LOADERS: Record<SqliteDriver, () => Driver> = {
  'better-sqlite3': loadBetterSqlite,
  'node:sqlite': loadNodeSqlite,
};

const loaded = new Map<SqliteDriver, Driver>();

/**
 * Loads the driver that is named, else the first that loads in this process. All read and write the
 * same files.
 *
 * @throws {DriverMissing} where none of them loads
 */
export function loadDriver(wanted?: SqliteDriver): { name: SqliteDriver; open: Driver } {
  const failures: Partial<Record<SqliteDriver, unknown>> = {};
  for (const name of wanted === undefined ? DRIVERS : [wanted]) {
    try {
      const open = loaded.get(name) ?? LOADERS[name]();
      loaded.set(name, open);
      return { name, open };
    } catch (error) {
      failures[name] = error;
    }
  }
  throw new DriverMissing(failures);
}

/** No SQLite that may be used loads in this process. */
export class DriverMissing extends Error {
  /** Why each that was tried did not load. */
  readonly failures: Partial<Record<SqliteDriver, unknown>>;

  constructor(failures: Partial<Record<SqliteDriver, unknown>>) {
    super('no SQLite driver loads', {
      cause: failures['better-sqlite3'] ?? failures['node:sqlite'],
    });
    this.failures = failures;
  }
}
