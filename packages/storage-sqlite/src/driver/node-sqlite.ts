import { pathToFileURL } from 'node:url';
import type { Connection, Driver, Statement, Transaction } from './connection.js';

/**
 * The part of `node:sqlite` that is used here. The types of the oldest supported Node don't have
 * it.
 */
interface NodeSqlite {
  DatabaseSync: new (path: string | URL, options?: { readOnly?: boolean }) => Database;
}

interface Database {
  readonly isTransaction: boolean;
  prepare(sql: string): Prepared;
  exec(sql: string): void;
  close(): void;
}

type Row = Record<string, unknown>;

interface Prepared {
  get(...bind: unknown[]): Row | undefined;
  all(...bind: unknown[]): Row[];
  iterate(...bind: unknown[]): IterableIterator<Row>;
  run(...bind: unknown[]): { changes: number; lastInsertRowid: number | bigint };
}

/**
 * With older versions, data may be lost when one process writes to a log that another one resets.
 */
const OLDEST_SQLITE = '3.51.3';

/**
 * Loads the driver that uses Node's own SQLite.
 *
 * @throws an error if this Node has no SQLite, if its SQLite is older than 3.51.3, which may damage
 * files that several processes write, or if it has no full-text search
 */
export function loadNodeSqlite(): Driver {
  // Older versions of Node 20 lack the function, older versions of Node 22 the module.
  const sqlite = process.getBuiltinModule?.('node:sqlite') as NodeSqlite | undefined;
  if (sqlite === undefined) throw new Error(`Node ${process.versions.node} has no SQLite`);
  const trial = new sqlite.DatabaseSync(':memory:');
  try {
    trial.exec('CREATE VIRTUAL TABLE trial USING fts5(words)');
    const row = trial
      .prepare("SELECT sqlite_version() AS version, 'a' || char(0) || 'b' AS text")
      .get();
    const version = String(row?.version);
    if (version.localeCompare(OLDEST_SQLITE, 'en', { numeric: true }) < 0) {
      throw new Error(`Node ${process.versions.node} has SQLite ${version}`);
    }
    const readsWhole = row?.text === 'a\0b';
    const text = (column: string) => (readsWhole ? column : `CAST(${column} AS BLOB)`);
    return (path, { readonly = false, fileMustExist = false, timeout = 0 } = {}) => {
      const db = new sqlite.DatabaseSync(fileMustExist ? existing(path) : path, {
        readOnly: readonly,
      });
      db.exec(`PRAGMA busy_timeout = ${timeout}`);
      return new NodeSqliteConnection(db, path, text);
    };
  } finally {
    trial.close();
  }
}

/** Returns a URL with which SQLite opens a file and never creates one. */
function existing(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', 'rw');
  return url;
}

class NodeSqliteConnection implements Connection {
  readonly name: string;
  readonly memory: boolean;
  readonly #db: Database;
  #isOpen = true;
  #depth = 0;

  constructor(
    db: Database,
    path: string,
    readonly text: (column: string) => string,
  ) {
    this.#db = db;
    this.name = path;
    this.memory = path === ':memory:';
  }

  get inTransaction(): boolean {
    return this.#isOpen && this.#db.isTransaction;
  }

  prepare<Bind extends unknown[], Result>(sql: string): Statement<Bind, Result> {
    return statementOf(this.#db.prepare(sql), withTexts);
  }

  prepareColumn<Bind extends unknown[], Value>(sql: string): Statement<Bind, Value> {
    return statementOf(this.#db.prepare(sql), (row) => textOf(firstOf(row)));
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  pragma(text: string): unknown {
    const row = this.#db.prepare(`PRAGMA ${text}`).get();
    return row === undefined ? undefined : firstOf(row);
  }

  transaction<Args extends unknown[], Result>(
    run: (...args: Args) => Result,
  ): Transaction<Args, Result> {
    const within = (begin: string) => {
      return (...args: Args): Result => {
        if (!this.inTransaction) {
          return this.#whole(() => run(...args), [begin, 'COMMIT', 'ROLLBACK']);
        }
        const point = `part${++this.#depth}`;
        const undo = `ROLLBACK TO ${point}; RELEASE ${point}`;
        try {
          return this.#whole(() => run(...args), [`SAVEPOINT ${point}`, `RELEASE ${point}`, undo]);
        } finally {
          this.#depth--;
        }
      };
    };
    return Object.assign(within('BEGIN'), { immediate: within('BEGIN IMMEDIATE') });
  }

  #whole<T>(run: () => T, [begin, commit, undo]: [string, string, string]): T {
    this.#db.exec(begin);
    try {
      const result = run();
      this.#db.exec(commit);
      return result;
    } catch (error) {
      // Some errors, such as a full disk, have already ended the transaction.
      if (this.inTransaction) this.#db.exec(undo);
      throw error;
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#db.close();
  }
}

function statementOf<Bind extends unknown[], Result>(
  prepared: Prepared,
  toResult: (row: Row) => unknown,
): Statement<Bind, Result> {
  const read = (row: Row) => toResult(row) as Result;
  return {
    get(...bind) {
      const row = prepared.get(...bind);
      return row === undefined ? undefined : read(row);
    },
    all: (...bind) => prepared.all(...bind).map(read),
    *iterate(...bind) {
      for (const row of prepared.iterate(...bind)) yield read(row);
    },
    run: (...bind) => prepared.run(...bind),
  };
}

function firstOf(row: Row): unknown {
  for (const name in row) return row[name];
  return undefined;
}

/** Converts bytes to texts. The stores keep no other bytes. */
function withTexts(row: Row): Row {
  for (const name in row) row[name] = textOf(row[name]);
  return row;
}

function textOf(value: unknown): unknown {
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
    : value;
}
