/**
 * The part of an SQLite driver that the stores use. All calls run on the calling thread. A
 * statement stays prepared as long as its connection. Errors carry the code of SQLite (see
 * `sqliteCodeOf`).
 */
export interface Connection {
  /** The path that was opened. */
  readonly name: string;
  readonly memory: boolean;
  readonly inTransaction: boolean;
  prepare<Bind extends unknown[] = [], Row = unknown>(sql: string): Statement<Bind, Row>;
  /** Prepares a query with one column. Its rows are the values themselves. */
  prepareColumn<Bind extends unknown[], Value>(sql: string): Statement<Bind, Value>;
  /**
   * Returns the SQL that reads a whole text, whatever it contains: `node:sqlite` of Node 22 ends a
   * text at its first NUL. Use it for every text column of a query. If a query itself casts to
   * bytes, the result is an object whose `toString()` is the text.
   */
  text(column: string): string;
  exec(sql: string): void;
  /** Runs a pragma, and returns the first value of its answer. */
  pragma(text: string): unknown;
  /**
   * Returns a function that runs completely or not at all. Within another transaction it is a part
   * of that one.
   */
  transaction<Args extends unknown[], Result>(
    run: (...args: Args) => Result,
  ): Transaction<Args, Result>;
  /** Closes the connection. A second call does nothing. */
  close(): void;
}

export interface Transaction<Args extends unknown[], Result> {
  (...args: Args): Result;
  /** Calls the function, and takes the lock for writing at its start. */
  immediate(...args: Args): Result;
}

export interface Statement<Bind extends unknown[], Row> {
  get(...bind: Bind): Row | undefined;
  all(...bind: Bind): Row[];
  iterate(...bind: Bind): IterableIterator<Row>;
  run(...bind: Bind): { changes: number; lastInsertRowid: number | bigint };
}

export interface ConnectionOptions {
  /** Only reads, and does not create the file. */
  readonly?: boolean;
  /** Fails if the file does not exist. */
  fileMustExist?: boolean;
  /** Milliseconds that a statement may block for the lock of another connection. */
  timeout?: number;
}

/** Opens a file, or `:memory:`. */
export type Driver = (path: string, options?: ConnectionOptions) => Connection;
