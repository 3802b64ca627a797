import { MAX_TIMER_MS, once } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import pg from 'pg';
import { migrate } from '../schema/migrate.js';
import type { CheckedOptions } from './options.js';
import { closedError, isReadOnly, isUndone, toStoreError } from './store-errors.js';

/** The most attempts of a transaction that the server undoes because of others. */
const MAX_TRIES = 10;

/**
 * If the server does not answer for this many milliseconds after the time limit of a statement, the
 * connection is given up.
 */
const SILENCE_MS = 5_000;

/** A statement that is prepared once for each connection. */
export interface Statement {
  name: string;
  text: string;
  /**
   * Whether it may be sent again when a connection breaks, because a second execution does no harm.
   */
  isRepeatable?: boolean;
}

const ALIVE: Statement = { name: 'ethos_alive', text: 'SELECT 1', isRepeatable: true };
/** Refused by a database that is read-only, as a write would be. It needs no rights. */
const WRITABLE: Statement = {
  name: 'ethos_writable',
  text: `DO $$ BEGIN IF current_setting('transaction_read_only') = 'on' THEN
    RAISE read_only_sql_transaction; END IF; END $$`,
  isRepeatable: true,
};

/**
 * A pool of connections to one schema. Several stores share it, and each of them opens it. The last
 * one that closes it ends the connections.
 */
export class Database {
  readonly options: CheckedOptions;
  /** The name of the schema for use in statements. */
  readonly schema: string;
  #pool: pg.Pool | undefined;
  #ready: Promise<void> | undefined;
  #users = 0;

  constructor(options: CheckedOptions) {
    this.options = options;
    this.schema = pg.escapeIdentifier(options.schema);
  }

  /**
   * Connects and migrates the tables, once for all stores that have it open.
   *
   * @returns closes it for this store, after all running statements; a second call does nothing more
   */
  async open(): Promise<() => Promise<void>> {
    const close = once(() => this.#release());
    this.#users += 1;
    try {
      this.#pool ??= this.#createPool();
      this.#ready ??= migrate(await this.#connect(this.options.where), this);
      await this.#ready;
      return close;
    } catch (error) {
      this.#ready = undefined;
      await close();
      throw toStoreError(error, { where: this.options.where });
    }
  }

  async #release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    const pool = this.#pool;
    this.#pool = undefined;
    this.#ready = undefined;
    await pool?.end();
  }

  /**
   * Runs one statement, and returns its rows.
   * @throws `STORE_UNAVAILABLE` if the server does not answer, or refuses
   */
  async run<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { isRepeatable = false, ...query } = statement;
    for (let attempt = 1; ; attempt++) {
      let wasSent = false;
      let client: pg.PoolClient | undefined;
      try {
        client = await this.#connect();
        wasSent = true;
        const { rows } = await client.query<Row>({ ...query, values: [...values] });
        client.release();
        return rows;
      } catch (error) {
        const isWhole = client !== undefined && (await isAnswer(error, client));
        // A connection keeps the setting that it began with, and a new one has the present one.
        client?.release(!isWhole || isReadOnly(error));
        if (isUndone(error) && attempt < MAX_TRIES) continue;
        if (!isWhole && wasSent && isRepeatable && attempt === 1) continue;
        throw toStoreError(error, { maybeWritten: wasSent && !isRepeatable && !isWhole });
      }
    }
  }

  /**
   * Returns what an operator has to fix; `undefined` if the database answers, and takes writes.
   *
   * @param isOnlyRead whether a database that is read-only will do
   */
  async problem({ isOnlyRead = false } = {}): Promise<string | undefined> {
    try {
      await this.run(isOnlyRead ? ALIVE : WRITABLE, []);
      return undefined;
    } catch (error) {
      const cause = error instanceof EthosError ? error.cause : error;
      return toStoreError(cause ?? error, { where: this.options.where }).message;
    }
  }

  async #connect(where?: string): Promise<pg.PoolClient> {
    if (this.#pool === undefined) throw closedError();
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw toStoreError(error, where === undefined ? {} : { where });
    }
  }

  #createPool(): pg.Pool {
    const { url, tls, maxConnections, connectTimeoutMs, statementTimeoutMs } = this.options;
    const pool = new pg.Pool({
      connectionString: url,
      ...(tls !== undefined && { ssl: tls }),
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: Math.min(statementTimeoutMs + SILENCE_MS, MAX_TIMER_MS),
      keepAlive: true,
      allowExitOnIdle: true,
      application_name: 'ethosagent',
      onConnect: (client) => {
        // Without a listener, an error between two statements would end the process. The next
        // statement fails anyway.
        client.on('error', () => {});
        return prepareConnection(client, statementTimeoutMs);
      },
    });
    // If an unused connection breaks, the pool opens another one when it is needed.
    pool.on('error', () => {});
    return pool;
  }
}

/**
 * Whether an error of a statement is the answer of the server, which has undone the statement. Else the
 * connection is broken. An error of the server has a severity, but in the language of the server, so
 * the connection is asked.
 */
async function isAnswer(error: unknown, client: pg.ClientBase): Promise<boolean> {
  if (!(error instanceof pg.DatabaseError)) return false;
  return client.query('SELECT 1').then(
    () => true,
    () => false,
  );
}

/** Returns the time that a test has set; `undefined` for the clock of the server. */
export function momentFor({ options: { clock } }: Database): number | undefined {
  return clock === undefined ? undefined : Math.floor(clock());
}

/**
 * A bound for a column of whole numbers: those from here on are not below `value`. With a bound
 * that is no whole number, PostgreSQL would look at all rows, and not use the index.
 */
export function wholeBound(value: number): number {
  // The columns have safe integers.
  const most = 2 ** 53;
  return Math.min(Math.max(Math.ceil(value), -most), most);
}

/**
 * A confirmed write must be on the server's disk, whatever the server's default is. A stricter
 * setting of the operator, such as a copy on another server, is kept.
 */
const PREPARE = `SELECT set_config('statement_timeout', $1, false),
  set_config('idle_in_transaction_session_timeout', $1, false),
  set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
      ELSE current_setting('synchronous_commit') END, false),
  set_config('bytea_output', 'hex', false),
  set_config('default_transaction_isolation', 'read committed', false),
  current_setting('server_encoding') AS encoding,
  current_setting('server_version_num')::int AS version`;

async function prepareConnection(client: pg.ClientBase, statementTimeoutMs: number): Promise<void> {
  const { rows } = await client.query<{ encoding: string; version: number }>(PREPARE, [
    `${statementTimeoutMs}`,
  ]);
  const { encoding = '', version = 0 } = rows[0] ?? {};
  if (version < 150_000) {
    throw new EthosError('CONFIG_INVALID', 'PostgreSQL 15 or newer is needed; update the server');
  }
  if (encoding !== 'UTF8') {
    throw new EthosError(
      'CONFIG_INVALID',
      `the database is encoded in ${encoding}; make one with ENCODING 'UTF8'`,
    );
  }
}
