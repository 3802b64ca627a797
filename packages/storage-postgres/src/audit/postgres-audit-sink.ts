import { setImmediate, setTimeout } from 'node:timers';
import { AuditChain, type AuditChainLine } from '@ethosagent/audit';
import type { OptionNames } from '@ethosagent/policy';
import { type AuditCall, type AuditEvent, type AuditSink, EthosError } from '@ethosagent/types';
import { Database, type Statement } from '../database/database.js';
import {
  checkedOptions,
  POSTGRES_OPTIONS,
  type PostgresOptions,
  wholeNumber,
} from '../database/options.js';

/** The most lines that one statement writes. */
const MAX_LINES = 500;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5_000;

/** The database, the key of the chain, and the number of events that may wait. */
export interface PostgresAuditOptions extends Omit<PostgresOptions, 'clock'> {
  /**
   * A key of 16 bytes or more. Keep it where the database is not: then somebody who can write the
   * database, but does not have the key, can't forge a chain.
   */
  key?: string | Uint8Array;
  /**
   * The most events that wait for the database; further accesses are refused. 1,000 when absent.
   */
  maxPending?: number;
}

const OPTIONS: OptionNames<PostgresAuditOptions> = {
  ...POSTGRES_OPTIONS,
  key: true,
  maxPending: true,
};

interface Waiting {
  until: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * An audit sink in a database, for any number of writers. Each writer has a chain of its own, and
 * `verifyPostgresAudit` checks all chains.
 *
 * `record` returns before the event is in the database. A runtime waits for `flush` before it gives
 * the answer of a call to anybody. The sink sends an event again until the database has it, also if
 * the server is away for a while. If the process is killed before that, the events of calls that
 * have no answer yet are lost. With `audit: [sink]`, a list, the runtime also writes the log of the
 * home, which has every event.
 */
export class PostgresAuditSink implements AuditSink {
  /** The id of this sink's chain. */
  readonly id: string;
  readonly #database: Database;
  readonly #chain: AuditChain;
  readonly #maxPending: number;
  readonly #append: Statement;
  #closeDatabase = async () => {};
  #pending: AuditChainLine[] = [];
  #sending = false;
  #closed = false;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;
  #added = 0;
  #sent = 0;
  /** The callers that wait for a number of events in the database, or for the first failure. */
  #waiting: Waiting[] = [];

  private constructor(database: Database, options: PostgresAuditOptions) {
    this.#database = database;
    this.#chain = new AuditChain(options.key === undefined ? {} : { key: options.key });
    this.id = this.#chain.id;
    this.#maxPending = wholeNumber(options, 'maxPending', { fallback: 1_000, max: 1_000_000 });
    // Existing lines stay unchanged, so it may be sent again if its outcome is unknown.
    this.#append = {
      name: 'ethos_audit_append',
      isRepeatable: true,
      text: `WITH lines AS (
          INSERT INTO ${database.schema}.audit_line (chain, seq, line)
          SELECT $1, seq, line FROM unnest($2::bigint[], $3::bytea[]) AS l (seq, line)
          ON CONFLICT DO NOTHING)
        INSERT INTO ${database.schema}.audit_chain AS old (id, newest, head) VALUES ($1, $4, $5)
        ON CONFLICT (id) DO UPDATE SET newest = excluded.newest, head = excluded.head
          WHERE old.newest < excluded.newest`,
    };
  }

  /**
   * Connects to the database, creates or updates the tables, and begins a chain.
   *
   * @param options the URL, and the key of the chain
   * @returns the sink
   * @throws `STORE_UNAVAILABLE` if the server does not answer
   * @throws `STORE_NEWER` if a newer version wrote the tables
   * @throws `CONFIG_INVALID` for an invalid option, for a server before PostgreSQL 15, or for a
   * database that is not in UTF-8
   */
  static async open(options: PostgresAuditOptions): Promise<PostgresAuditSink> {
    const database = new Database(checkedOptions(options, 'PostgresAuditSink.open', OPTIONS));
    const sink = new PostgresAuditSink(database, options);
    sink.#closeDatabase = await database.open();
    return sink;
  }

  /**
   * Queues an access for the database. If this throws, the registry refuses the access.
   *
   * @param event the access
   * @throws `STORE_UNAVAILABLE` if too many events are waiting, or the sink is closed
   */
  record(event: AuditEvent): void {
    this.#add(event);
  }

  /**
   * Queues a call for the database.
   *
   * @param event the call
   * @throws `STORE_UNAVAILABLE` for the same reasons as `record`
   */
  call(event: AuditCall): void {
    this.#add(event);
  }

  /**
   * Waits until every event that was recorded so far is in the database. A runtime calls this
   * before it gives the answer of a call to anybody.
   *
   * @throws `STORE_UNAVAILABLE` if an attempt to write the events fails
   */
  flush(): Promise<void> {
    const until = this.#added;
    if (this.#sent >= until) return Promise.resolve();
    // If nothing else kept the process, it would end before the caller has an answer.
    this.#retry?.ref();
    return new Promise<void>((resolve, reject) => this.#waiting.push({ until, resolve, reject }));
  }

  /**
   * Refuses later events, writes the waiting ones, and closes the connections.
   *
   * @throws `STORE_UNAVAILABLE` if the waiting events can't be written
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.flush();
    } finally {
      this.#pending = [];
      await this.#closeDatabase();
    }
  }

  #add(event: object): void {
    if (this.#closed) throw new EthosError('STORE_UNAVAILABLE', 'the audit sink is closed');
    if (this.#pending.length >= this.#maxPending) {
      throw new EthosError(
        'STORE_UNAVAILABLE',
        `${this.#pending.length} audit events wait for the database; see that it answers`,
      );
    }
    this.#pending.push(this.#chain.add(event));
    this.#added += 1;
    if (this.#sending) return;
    this.#sending = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    const lines = this.#pending.slice(0, MAX_LINES);
    const last = lines.at(-1);
    if (last === undefined) {
      this.#sending = false;
      return;
    }
    try {
      await this.#database.run(this.#append, [
        this.id,
        lines.map(({ seq }) => seq),
        lines.map(({ bytes }) => Buffer.from(bytes)),
        last.seq,
        last.head,
      ]);
      this.#pending.splice(0, lines.length);
      this.#sent += lines.length;
      this.#retryMs = FIRST_RETRY_MS;
      const waiting = this.#waiting.splice(0);
      this.#waiting = waiting.filter(({ until }) => until > this.#sent);
      for (const { until, resolve } of waiting) if (until <= this.#sent) resolve();
      setImmediate(() => void this.#send());
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
      this.#retry = setTimeout(() => void this.#send(), this.#retryMs).unref();
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    }
  }
}
