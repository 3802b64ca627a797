import { createRequire } from 'node:module';
import type { Database, Options } from 'better-sqlite3';
import type { Connection, Driver, Statement } from './connection.js';

type DatabaseConstructor = new (path: string, options?: Options) => Database;

/**
 * Loads the driver that uses better-sqlite3.
 *
 * @throws the error of Node or the package if it is not installed, or was not built for this Node
 */
export function loadBetterSqlite(): Driver {
  // Loaded only here, so that a host with stores of its own needs no binary.
  const BetterSqlite: DatabaseConstructor = createRequire(import.meta.url)('better-sqlite3');
  // The package looks for its binary only when the first database is opened.
  new BetterSqlite(':memory:').close();
  return (path, options) => toConnection(new BetterSqlite(path, options));
}

function toConnection(db: Database): Connection {
  return {
    name: db.name,
    memory: db.memory,
    get inTransaction() {
      return db.inTransaction;
    },
    prepare: (sql) => db.prepare(sql) as never,
    prepareColumn: <Bind extends unknown[], Value>(sql: string): Statement<Bind, Value> =>
      db.prepare(sql).pluck() as never,
    text: (column) => column,
    exec: (sql) => void db.exec(sql),
    pragma: (text) => db.pragma(text, { simple: true }),
    transaction: (run) => db.transaction(run) as never,
    close: () => void db.close(),
  };
}
