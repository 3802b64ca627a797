import { setImmediate, setTimeout } from 'node:timers';
import { AuditChain, type AuditChainLine } from '@ethosagent/audit';
import { type AuditCall, type AuditEvent, type AuditSink, EthosError } from '@ethosagent/types';
import { Database, type Statement } from '../database/database.js';
import { checkedOptions, type PostgresOptions, wholeNumber } from '../database/options.js';

/** Lines of one statement. */
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

/**
 * An audit sink in a database, for any number of writers: each has a chain of its own, and
 * `verifyPostgresAudit` checks all of them.
 *
 * An event is on its way when `record` returns, and not yet in the database: `record` can't wait. What
 * is on its way is sent until it is there, also when the server is away for a while; it is lost when
 * the process is killed before. Give the sink in a list, `audit: [sink]`, and the log of the home
 * beside it has every event.
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
  #failure: unknown;
  /** Who waits until nothing is on its way, or for the first failure. */
  #waiting: Array<() => void> = [];

  private constructor(database: Database, options: PostgresAuditOptions) {
    this.#database = database;
    this.#chain = new AuditChain(options.key === undefined ? {} : { key: options.key });
    this.id = this.#chain.id;
    this.#maxPending = wholeNumber(options, 'maxPending', { fallback: 1_000, max: 1_000_000 });
    // Lines that are there already stay, so that it may be sent again when nobody knows what came of it.
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
   * Connects, and makes or updates the tables.
   *
   * @throws `STORE_UNAVAILABLE`, `STORE_NEWER`, `CONFIG_INVALID`
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

  /** Waits until every event is in the database. @throws `STORE_UNAVAILABLE` */
  async flush(): Promise<void> {
    this.#failure = undefined;
    while (this.#pending.length > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      if (this.#failure !== undefined) throw this.#failure;
    }
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
    if (this.#sending) return;
    this.#sending = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    const lines = this.#pending.slice(0, MAX_LINES);
    const last = lines.at(-1);
    if (last === undefined) {
      this.#sending = false;
      this.#tellWaiting();
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
      this.#retryMs = FIRST_RETRY_MS;
      setImmediate(() => void this.#send());
    } catch (error) {
      this.#failure = error;
      this.#tellWaiting();
      setTimeout(() => void this.#send(), this.#retryMs).unref();
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    }
  }

  #tellWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
