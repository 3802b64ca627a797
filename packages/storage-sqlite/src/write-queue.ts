// Imported by name, so that a test's fake timers don't stop the store.
import { setImmediate, setTimeout } from 'node:timers';
import type { Connection, Statement } from './driver/connection.js';
import { closedError, isBusy, toStoreError } from './store-errors.js';

/** The most operations in one transaction, so that many writes don't block the event loop. */
const MAX_BATCH = 512;

/**
 * Milliseconds that SQLite itself waits for a lock. This blocks the event loop, so it is short.
 */
export const SQLITE_BUSY_TIMEOUT_MS = 20;

/** Milliseconds that `close` may block for the lock of another process. */
const CLOSE_BUSY_TIMEOUT_MS = 5_000;

interface QueuedOperation {
  namespace: string | symbol;
  queuedAt: number;
  /** Runs inside a transaction. The function that it returns is called after the commit. */
  attempt: () => () => void;
  reject: (error: Error) => void;
}

/**
 * Group commit: the operations that are queued during one turn of the event loop run in one
 * transaction, in order, and settle after the commit. If one of them throws, only that one fails.
 */
export class WriteQueue {
  readonly #db: Connection;
  readonly #lockWaitMs: number;
  readonly #assertInPlace: () => void;
  readonly #begin: Statement<[], unknown>;
  readonly #commit: Statement<[], unknown>;
  readonly #rollback: Statement<[], unknown>;
  readonly #queue: QueuedOperation[] = [];
  readonly #queuedPerNamespace = new Map<string | symbol, number>();
  #scheduled = false;
  #closed = false;
  #busyTries = 0;
  /**
   * The number of the next operations that get a transaction of their own, because their common one
   * failed.
   */
  #alone = 0;

  /**
   * Creates an empty queue.
   * @param options.lockWaitMs how long an operation waits in all for locks of other processes
   * @param options.assertInPlace throws if written data could not be found again
   */
  constructor(db: Connection, options: { lockWaitMs: number; assertInPlace: () => void }) {
    this.#db = db;
    this.#lockWaitMs = options.lockWaitMs;
    this.#assertInPlace = options.assertInPlace;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#rollback = db.prepare('ROLLBACK');
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether a read of this namespace must wait in the queue to see earlier writes. */
  hasQueued(namespace: string): boolean {
    return this.#queuedPerNamespace.has(namespace);
  }

  /**
   * Queues an operation. The promise settles after the commit.
   * @param operation makes at most one change, so that a failure leaves nothing behind
   */
  run<T>(namespace: string | symbol, operation: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) {
        reject(closedError());
        return;
      }
      this.#queue.push({
        namespace,
        queuedAt: performance.now(),
        attempt: () => {
          const result = operation();
          return () => resolve(result);
        },
        reject,
      });
      this.#queuedPerNamespace.set(namespace, (this.#queuedPerNamespace.get(namespace) ?? 0) + 1);
      this.#schedule();
    });
  }

  /** Commits the queued operations, and refuses later ones. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#queue.length === 0) return;
    this.#db.pragma(`busy_timeout = ${Math.min(this.#lockWaitMs, CLOSE_BUSY_TIMEOUT_MS)}`);
    let lock: unknown;
    while (this.#queue.length > 0 && lock === undefined) lock = this.#runBatch();
    this.#rejectFirst(this.#queue.length, lock);
  }

  #schedule(delayMs?: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (delayMs === undefined) setImmediate(this.#flush);
    else setTimeout(this.#flush, delayMs);
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    if (this.#queue.length === 0) return;
    const lock = this.#runBatch();
    if (lock === undefined) {
      this.#busyTries = 0;
      if (this.#queue.length > 0) this.#schedule();
      return;
    }
    const overdue = performance.now() - this.#lockWaitMs;
    const firstInTime = this.#queue.findIndex((operation) => operation.queuedAt > overdue);
    this.#rejectFirst(firstInTime === -1 ? this.#queue.length : firstInTime, lock);
    // A random delay, so that processes that met once don't meet again.
    const ceilingMs = Math.min(50, 2 ** this.#busyTries++);
    if (this.#queue.length > 0) this.#schedule(1 + Math.random() * ceilingMs);
  };

  /** Runs the next batch. Returns the error if a lock prevented it and nothing was changed. */
  #runBatch(): unknown {
    const size = Math.min(this.#alone > 0 ? 1 : MAX_BATCH, this.#queue.length);
    const settle: (() => void)[] = [];
    try {
      this.#begin.run();
      for (const operation of this.#queue.slice(0, size)) settle.push(this.#attempt(operation));
      this.#assertInPlace();
      this.#commit.run();
    } catch (error) {
      this.#rollBack();
      if (isBusy(error)) return error;
      if (size === 1) this.#rejectFirst(1, error);
      else this.#alone = size;
      return undefined;
    }
    this.#take(size);
    for (const done of settle) done();
    return undefined;
  }

  #rollBack(): void {
    try {
      if (this.#db.inTransaction) this.#rollback.run();
    } catch {
      // The next BEGIN reports what is wrong with the connection.
    }
  }

  #attempt(operation: QueuedOperation): () => void {
    try {
      return operation.attempt();
    } catch (error) {
      // Some errors, such as a full disk, end the whole transaction and not only the statement.
      if (!this.#db.inTransaction) throw error;
      return () => operation.reject(toStoreError(error));
    }
  }

  #rejectFirst(count: number, error: unknown): void {
    if (count === 0) return;
    const failure = toStoreError(error);
    for (const operation of this.#take(count)) operation.reject(failure);
  }

  #take(count: number): QueuedOperation[] {
    const taken = this.#queue.splice(0, count);
    this.#alone = Math.max(0, this.#alone - count);
    for (const { namespace } of taken) {
      const left = (this.#queuedPerNamespace.get(namespace) ?? 0) - 1;
      if (left > 0) this.#queuedPerNamespace.set(namespace, left);
      else this.#queuedPerNamespace.delete(namespace);
    }
    return taken;
  }
}
