import { isDeepStrictEqual } from 'node:util';
import type { SessionStore } from '@ethosagent/types';
import { readLog, storedRecord } from './journal.js';
import type { SessionLog } from './session-log.js';

/** How many sessions are kept. Each one holds everything that the model is shown. */
const MAX_LOGS = 8;
/** A session with fewer records is read quickly, so it is not kept. */
const MIN_RECORDS = 500;

/**
 * The logs of long sessions whose turns ran here, so that the next turn reads only what is new. A
 * log depends only on its records, so it does not matter who built it. A log that was taken is not
 * given to anybody else.
 */
export class KnownLogs {
  readonly #logs = new Map<string, SessionLog>();
  readonly #minRecords: number;

  /** @param minRecords how many records a session must have to be kept */
  constructor(minRecords = MIN_RECORDS) {
    this.#minRecords = minRecords;
  }

  /** Reads the log of a session. Starts from the part that is known. @throws as `readLog` */
  async read(store: SessionStore, sessionId: string): Promise<SessionLog> {
    const known = this.#logs.get(sessionId);
    this.#logs.delete(sessionId);
    if (known === undefined || !(await isStill(store, sessionId, known))) {
      return readLog(store, sessionId);
    }
    return readLog(store, sessionId, { log: known });
  }

  /** Keeps a log that nobody else will change. */
  keep(sessionId: string, log: SessionLog): void {
    this.#logs.delete(sessionId);
    if (log.messageCount < this.#minRecords) return;
    this.#logs.set(sessionId, log);
    const [oldest] = this.#logs.keys();
    if (this.#logs.size > MAX_LOGS && oldest !== undefined) this.#logs.delete(oldest);
  }
}

/**
 * Whether the stored session is still the one of the log: it may have been deleted and begun again,
 * in the same millisecond, too. One with other records between the same first and last ones is not
 * told from it.
 */
async function isStill(store: SessionStore, sessionId: string, log: SessionLog): Promise<boolean> {
  const { lastSequence, lastStoredAt, firstRecord, lastRecord } = log;
  const opts = { afterSequence: lastSequence - 1, limit: 1 };
  const [last] = await store.messages(sessionId, opts);
  if (last?.sequence !== lastSequence || last.createdAt !== lastStoredAt) return false;
  if (!isDeepStrictEqual(storedRecord(last.data), lastRecord)) return false;
  const [first] = await store.messages(sessionId, { limit: 1 });
  return isDeepStrictEqual(storedRecord(first?.data), firstRecord);
}
