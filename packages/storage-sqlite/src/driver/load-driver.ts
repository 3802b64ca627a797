import { loadBetterSqlite } from './better-sqlite.js';
import type { Driver } from './connection.js';
import { loadNodeSqlite } from './node-sqlite.js';

/** The SQLite that a store uses: the package better-sqlite3, or the module of Node. */
export type SqliteDriver = 'better-sqlite3' | 'node:sqlite';

/** The drivers, in the order in which they are tried. */
export const DRIVERS: readonly SqliteDriver[] = ['better-sqlite3', 'node:sqlite'];

const LOADERS: Record<SqliteDriver, () => Driver> = {
  'better-sqlite3': loadBetterSqlite,
  'node:sqlite': loadNodeSqlite,
};

const loaded = new Map<SqliteDriver, Driver>();

/**
 * Loads the named driver, or the first one that works in this process. All drivers read and write
 * the same files.
 *
 * @throws {DriverMissing} if none of them works
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

/** The error that says that no allowed driver of SQLite works in this process. */
export class DriverMissing extends Error {
  /** The error of each driver that was tried. */
  readonly failures: Partial<Record<SqliteDriver, unknown>>;

  constructor(failures: Partial<Record<SqliteDriver, unknown>>) {
    super('no SQLite driver loads', {
      cause: failures['better-sqlite3'] ?? failures['node:sqlite'],
    });
    this.failures = failures;
  }
}
