import { isDeepStrictEqual } from 'node:util';
import type { SessionStore } from '@ethosagent/types';
import { readLog } from './journal.js';
import { parseRecord } from './records.js';
import type { SessionLog } from './session-log.js';

/** Sessions that are kept: each of them holds what a model is shown. */
const MAX_LOGS = 8;
/** Records of a session that is worth it. A shorter one is read in no time. */
const MIN_RECORDS = 500;

/**
 * The logs of long sessions whose turns ran here, so that the next turn reads what is new and not all
 * that ever was. A log is what its records come to, so it is the same whichever way it was made. Whoever
 * takes one has it alone.
 */
export class KnownLogs {
  readonly #logs = new Map<string, SessionLog>();
  readonly #minRecords: number;

  /** @param minRecords of a session that is worth it */
  constructor(minRecords = MIN_RECORDS) {
    this.#minRecords = minRecords;
  }

  /** Reads the log of a session, from where it is known. @throws as `readLog` */
  async read(store: SessionStore, sessionId: string): Promise<SessionLog> {
    const known = this.#logs.get(sessionId);
    this.#logs.delete(sessionId);
    if (known === undefined || !(await isStill(store, sessionId, known))) {
      return readLog(store, sessionId);
    }
    return readLog(store, sessionId, { log: known });
  }

  /** Keeps a log that nobody else goes on with. */
  keep(sessionId: string, log: SessionLog): void {
    this.#logs.delete(sessionId);
    if (log.messageCount < this.#minRecords) return;
    this.#logs.set(sessionId, log);
    const [oldest] = this.#logs.keys();
    if (this.#logs.size > MAX_LOGS && oldest !== undefined) this.#logs.delete(oldest);
  }
}

/** Whether a session is the one that is known: it may have been deleted, and begun anew. */
async function isStill(store: SessionStore, sessionId: string, log: SessionLog): Promise<boolean> {
  const { lastSequence, lastStoredAt, lastRecord } = log;
  const opts = { afterSequence: lastSequence - 1, limit: 1 };
  const [last] = await store.messages(sessionId, opts);
  if (last?.sequence !== lastSequence || last.createdAt !== lastStoredAt) return false;
  return isDeepStrictEqual(parseRecord(last.data), lastRecord);
}
