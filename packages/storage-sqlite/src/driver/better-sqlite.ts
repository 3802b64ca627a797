import { createRequire } from 'node:module';
import type { Database, Options } from 'better-sqlite3';
import type { Connection, Driver, Statement } from './connection.js';

type DatabaseConstructor = new (path: string, options?: Options) => Database;

/**
 * The driver on better-sqlite3.
 *
 * @throws what Node or the package throws where it is not installed, or was not built for this Node
 */
export function loadBetterSqlite(): Driver {
  // Only here: whoever passes stores of their own loads no binary, and none has to be there.
  const BetterSqlite: DatabaseConstructor = createRequire(import.meta.url)('better-sqlite3');
  // The package looks for its binary when the first database is opened.
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
