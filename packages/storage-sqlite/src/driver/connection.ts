/**
 * What the stores use of an SQLite driver. All calls run on the calling thread. A statement stays
 * prepared for the life of its connection. Failures carry the code of SQLite (see `sqliteCodeOf`).
 */
export interface Connection {
  /** The path that was opened. */
  readonly name: string;
  readonly memory: boolean;
  readonly inTransaction: boolean;
  prepare<Bind extends unknown[] = [], Row = unknown>(sql: string): Statement<Bind, Row>;
  /** Prepares a query of one column, whose rows are the values themselves. */
  prepareColumn<Bind extends unknown[], Value>(sql: string): Statement<Bind, Value>;
  /**
   * The SQL that reads a text whole, whatever is in it: `node:sqlite` of Node 22 ends a text at its
   * first NUL. Each column of text that a query returns is named through it. What a query casts to
   * bytes itself comes back as something whose `toString()` is the text.
   */
  text(column: string): string;
  exec(sql: string): void;
  /** The first value that a pragma answers with. */
  pragma(text: string): unknown;
  /** A function that runs whole or not at all; within another one it is a part of that. */
  transaction<Args extends unknown[], Result>(
    run: (...args: Args) => Result,
  ): Transaction<Args, Result>;
  /** Ends the connection. A second time it does nothing. */
  close(): void;
}

export interface Transaction<Args extends unknown[], Result> {
  (...args: Args): Result;
  /** The same, and takes the lock for writing at its start. */
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
  /** The file must be there. */
  fileMustExist?: boolean;
  /** Milliseconds that a statement blocks at most for the lock of another connection. */
  timeout?: number;
}

/** Opens a file, or `:memory:`. */
export type Driver = (path: string, options?: ConnectionOptions) => Connection;
