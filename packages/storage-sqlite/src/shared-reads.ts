// Imported by name, so that a test's fake timers don't keep a snapshot open.
import { nextTick } from 'node:process';
import type { Connection, Statement } from './driver/connection.js';

/** The most reads of one snapshot, so that a loop of reads sees what other processes write. */
export const SNAPSHOT_READS = 64;

/**
 * Lets reads share one snapshot of the file while the event loop does nothing else: SQLite then
 * takes its lock once, which is most of the time of a short read. In between, no message of another
 * process can tell this one of a newer write.
 */
export class SharedReads {
  readonly #db: Connection;
  readonly #begin: Statement<[], unknown>;
  readonly #commit: Statement<[], unknown>;
  #reads = 0;
  #hasSnapshot = false;

  constructor(db: Connection) {
    this.#db = db;
    this.#begin = db.prepare('BEGIN');
    this.#commit = db.prepare('COMMIT');
  }

  /** Call it before each read. A read that is alone gets no snapshot, which costs more than one read. */
  next(): void {
    if (this.#reads === 0) nextTick(this.end);
    else if (this.#reads % SNAPSHOT_READS === 1) this.#renew();
    this.#reads++;
  }

  /** Releases the snapshot, if there is one. */
  readonly end = (): void => {
    this.#reads = 0;
    this.#release();
  };

  #renew(): void {
    this.#release();
    if (this.#db.inTransaction) return;
    this.#begin.run();
    this.#hasSnapshot = true;
  }

  #release(): void {
    if (!this.#hasSnapshot) return;
    this.#hasSnapshot = false;
    try {
      // Some errors of a read have already ended the transaction.
      if (this.#db.inTransaction) this.#commit.run();
    } catch {
      // The next BEGIN reports what is wrong with the connection.
    }
  }
}
