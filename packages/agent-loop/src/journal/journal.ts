import {
  errorCodeOf,
  type NewSessionMessage,
  type SessionMessage,
  type SessionRef,
  type SessionStore,
} from '@ethosagent/types';
import { type AgentRecord, messageOf, parseRecord } from './records.js';
import { damaged, SessionLog } from './session-log.js';

interface Waiting {
  record: AgentRecord;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Writes the records of one session, one after the other, each only where the session is as it was
 * read: of several writers one goes on, and the others end with `SESSION_CHANGED`. Records that come
 * while others are being written are written together.
 */
export class Journal {
  readonly log: SessionLog;
  readonly ref: SessionRef;
  readonly #store: SessionStore;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;

  constructor(store: SessionStore, ref: SessionRef, log: SessionLog) {
    this.#store = store;
    this.ref = ref;
    this.log = log;
  }

  /** Why nothing more is written. */
  get failure(): unknown {
    return this.#failure?.error;
  }

  /**
   * Resolves when the records are stored, and the log has them.
   *
   * @throws as `SessionStore.append`; from then on every append does
   */
  async append(...records: readonly AgentRecord[]): Promise<void> {
    const written = records.map(
      (record) =>
        new Promise<void>((resolve, reject) => {
          this.#waiting.push({ record, resolve, reject });
        }),
    );
    this.#writing ??= this.#write();
    await Promise.all(written);
  }

  async #write(): Promise<void> {
    // A microtask later, so that the records of calls that begin together are written together.
    await undefined;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        if (this.#failure !== undefined) throw this.#failure.error;
        await this.#put(batch.map(({ record }) => record));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#failure ??= { error };
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = undefined;
  }

  async #put(records: readonly AgentRecord[]): Promise<void> {
    for (;;) {
      try {
        const stored = await this.#store.append(this.ref, messagesOf(records, this.log), {
          afterSequence: this.log.lastSequence,
        });
        records.forEach((record, index) => {
          this.log.apply(record, stored[index]?.sequence ?? this.log.lastSequence + 1);
        });
        return;
      } catch (error) {
        if (errorCodeOf(error) !== 'SESSION_CHANGED') throw error;
        if (!(await this.#readDecisions())) throw error;
      }
    }
  }

  /** Reads what another process decided of calls that wait. Anything else is another writer's turn. */
  async #readDecisions(): Promise<boolean> {
    const { log } = this;
    const messages = await this.#store.messages(this.ref.id, { afterSequence: log.lastSequence });
    const records = messages.map(({ data }) => parseRecord(data));
    if (records.length === 0 || records.some((record) => record?.kind !== 'decided')) return false;
    applyAll(log, messages);
    return true;
  }
}

/** The log of a session as it is stored. @throws `TURN_INVALID`, and as `SessionStore.messages` */
export async function readLog(store: SessionStore, sessionId: string): Promise<SessionLog> {
  const log = new SessionLog();
  for (;;) {
    const page = await store.messages(sessionId, { afterSequence: log.lastSequence });
    if (page.length === 0) return log;
    applyAll(log, page);
  }
}

function applyAll(log: SessionLog, messages: readonly SessionMessage[]): void {
  for (const { data, sequence } of messages) {
    const record = parseRecord(data);
    if (record === undefined) {
      throw damaged(sequence, 'is not one of this agent loop, or it is damaged');
    }
    log.apply(record, sequence);
  }
}

/** @throws `TURN_INVALID` for ids that no step has */
function messagesOf(records: readonly AgentRecord[], log: SessionLog): NewSessionMessage[] {
  const names = new Map(
    records.flatMap((record) =>
      record.kind === 'step'
        ? record.parts.flatMap((part): [string, string][] =>
            part.type === 'call' ? [[part.id, part.name]] : [],
          )
        : [],
    ),
  );
  return records.map((record) => messageOf(record, (id) => names.get(id) ?? log.toolNameOf(id)));
}
