import { setImmediate, setTimeout } from 'node:timers';
import { AuditChain, type AuditChainLine } from '@ethosagent/audit';
import { type AuditCall, type AuditEvent, type AuditSink, EthosError } from '@ethosagent/types';
import { Database, type Statement } from '../database/database.js';
import { checkedOptions, type PostgresOptions, wholeNumber } from '../database/options.js';

/** How many lines one statement writes. */
const MAX_LINES = 500;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5_000;

/** Where the events go, and how many may be on their way. */
export interface PostgresAuditOptions extends Omit<PostgresOptions, 'clock'> {
  /**
   * 16 bytes or more, kept where the database is not: who can write the database but has no key can't
   * forge a chain.
   */
  key?: string | Uint8Array;
  /** Events that wait for the database at most; accesses beyond them are refused. 1,000 when absent. */
  maxPending?: number;
}

interface Waiting {
  until: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * An audit sink in a database, for any number of writers: each has a chain of its own, and
 * `verifyPostgresAudit` checks all of them.
 *
 * An event is on its way when `record` returns, and in the database before anybody gets the answer of
 * its call: a runtime waits for `flush`. The sink sends an event again until the database has it, also
 * when the server is away for a while. If the process is killed before, the events of calls that have
 * no answer yet are lost. Give the sink in a list, `audit: [sink]`, and the log of the home beside it has every event.
 */
export class PostgresAuditSink implements AuditSink {
  /** The id of its chain. */
  readonly id: string;
  readonly #database: Database;
  readonly #chain: AuditChain;
  readonly #maxPending: number;
  readonly #append: Statement;
  #pending: AuditChainLine[] = [];
  #sending = false;
  #closed = false;
  #retryMs = FIRST_RETRY_MS;
  #added = 0;
  #sent = 0;
  /** Who waits until so many events are there, or for the first failure. */
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
   * Connects, and creates or updates the tables.
   *
   * @param options the URL, and the key of the chain
   * @returns the sink
   * @throws `STORE_UNAVAILABLE` when the server does not answer
   * @throws `STORE_NEWER` when a newer version wrote the tables
   * @throws `CONFIG_INVALID` for an option that is wrong
   */
  static async open(options: PostgresAuditOptions): Promise<PostgresAuditSink> {
    const database = new Database(checkedOptions(options));
    const sink = new PostgresAuditSink(database, options);
    await database.open();
    return sink;
  }

  /** @throws `STORE_UNAVAILABLE` when too many events wait, so that the access is refused */
  record(event: AuditEvent): void {
    this.#add(event);
  }

  /** @throws as `record` */
  call(event: AuditCall): void {
    this.#add(event);
  }

  /**
   * Waits until every event that was recorded so far is in the database. A runtime does so before
   * anybody gets the answer of a call. @throws `STORE_UNAVAILABLE`
   */
  flush(): Promise<void> {
    const until = this.#added;
    if (this.#sent >= until) return Promise.resolve();
    return new Promise<void>((resolve, reject) => this.#waiting.push({ until, resolve, reject }));
  }

  /** Refuses what comes later, writes what is on its way, and lets go of the database. @throws as `flush` */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.flush();
    } finally {
      this.#pending = [];
      await this.#database.close();
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
      setTimeout(() => void this.#send(), this.#retryMs).unref();
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    }
  }
}
