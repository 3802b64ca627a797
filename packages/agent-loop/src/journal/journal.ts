import type { SessionLedger, UntrustedSource } from '@ethosagent/core';
import {
  EthosError,
  errorCodeOf,
  type NewSessionMessage,
  type SessionAppendOptions,
  type SessionMessage,
  type SessionRef,
  type SessionStore,
} from '@ethosagent/types';
import type { TurnClaim } from '../api.js';
import { withGrace } from '../with-grace.js';
import { type EarlierRecord, parseEarlier } from './earlier-records.js';
import { type AgentRecord, messageOf, parseRecord } from './records.js';
import { damaged, type LoggedStep, SessionLog } from './session-log.js';

/**
 * The claim on a session. Without an epoch, it is the claim on the session of the agent at the top.
 */
export type JournalClaim = Pick<TurnClaim, 'assertHeld'> & Partial<Pick<TurnClaim, 'epoch'>>;

/** The records of one append: either all of them are stored or none. */
interface Waiting {
  records: readonly AgentRecord[];
  /** Whether the next append may store them along with its own. */
  isSoon: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Writes the records of one session, in order. Records that come while others are being written are
 * written together, all or none.
 *
 * Three invariants let a turn go on after a crash:
 * - The journal is ahead of the world. A call's begin is stored before the call runs, and its result
 *   before the model reads it. A begin without a result therefore means that the call may have run, and
 *   no begin means that it did not.
 * - There is one writer. Each append names the last record that this process has read, and the store
 *   refuses it when another one was added: the other process ends with `SESSION_CHANGED`. After one
 *   failed append this journal writes nothing more, since it no longer knows what is stored.
 * - Taint is ahead of the journal. Untrusted sources are noted in the ledger of the session before the
 *   records with their content are stored, so that no process reads the content without the mark.
 */
export class Journal {
  readonly log: SessionLog;
  readonly ref: SessionRef;
  readonly #store: SessionStore;
  /** What is known about the session, whichever process runs it. */
  readonly ledger: SessionLedger;
  readonly #signal: AbortSignal | undefined;
  readonly #graceMs: number;
  readonly #claim: JournalClaim | undefined;
  #waiting: Waiting[] = [];
  /** Records that are in the log, and that the next append stores before its own. */
  #soon: AgentRecord[] = [];
  #writing: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;

  /**
   * @param options.signal of the turn: if a store does not answer within `graceMs` milliseconds
   * after it has fired, the store has failed
   */
  constructor(
    store: SessionStore,
    ref: SessionRef,
    {
      log,
      ledger,
      signal,
      graceMs,
      claim,
    }: {
      log: SessionLog;
      ledger: SessionLedger;
      signal?: AbortSignal | undefined;
      graceMs: number;
      claim?: JournalClaim | undefined;
    },
  ) {
    this.#store = store;
    this.ledger = ledger;
    this.#signal = signal;
    this.#graceMs = graceMs;
    this.#claim = claim;
    this.ref = ref;
    this.log = log;
  }

  get failure(): unknown {
    return this.#failure?.error;
  }

  /** Whether its turn has ended, everything is written, and nobody will write with it again. */
  get isOver(): boolean {
    const isQuiet = this.#writing === undefined && this.#waiting.length === 0;
    return isQuiet && this.#failure === undefined && this.log.turn?.end !== undefined;
  }

  /** The untrusted content that the session has read in any process, as far as it is known here. */
  get sources(): UntrustedSource[] {
    return this.ledger.sources;
  }

  /** Counts what the loop uses up of the limits of its session. */
  count(use: { calls: number; costUsd: number }): void {
    this.ledger.count(use);
  }

  /**
   * Reads which sources other processes have noted, and notes those that only the records contain.
   * @throws as `SessionLedger.refresh`
   */
  async refreshSources(): Promise<void> {
    await this.ledger.refresh();
    await this.ledger.addSources(this.log.sources);
  }

  /**
   * The sources that were known when the calls of a step were issued, and those that others have
   * read since.
   */
  sourcesOf(step: LoggedStep | undefined): UntrustedSource[] {
    const { known } = step?.record ?? {};
    if (step === undefined || known === undefined) return this.sources;
    return this.ledger.sourcesBut({ own: step.brought, known });
  }

  /**
   * Resolves when the records are stored and are in the log.
   *
   * @throws `TURN_INVALID` for records that may not come next or could not be read back; they are
   * not stored, and other records still can be. As `SessionStore.append`; after that, every
   * further append fails
   */
  append(...records: readonly AgentRecord[]): Promise<void> {
    return records.length === 0 ? Promise.resolve() : this.#queue(records, { isSoon: false });
  }

  /**
   * Resolves when the record is in the log. The next append stores it in the same transaction, or
   * `store` does. For a record that nobody acts on before that: if the process dies, it was never made.
   *
   * @throws as `append`
   */
  appendSoon(record: AgentRecord): Promise<void> {
    return this.#queue([record], { isSoon: true });
  }

  /** Resolves when all that is in the log is stored. @throws as `append` */
  store(): Promise<void> {
    return this.#soon.length === 0 ? Promise.resolve() : this.#queue([], { isSoon: false });
  }

  #queue(records: readonly AgentRecord[], { isSoon }: Pick<Waiting, 'isSoon'>): Promise<void> {
    let readable: AgentRecord[];
    try {
      readable = records.map(asRead);
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records: readable, isSoon, resolve, reject });
      this.#writing ??= this.#write();
    });
  }

  async #write(): Promise<void> {
    // Waits one microtask, so that the records of calls that begin together are written together.
    await undefined;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        if (this.#failure !== undefined) throw this.#failure.error;
        await this.#put(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#failure ??= { error };
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = undefined;
  }

  async #put(batch: readonly Waiting[]): Promise<void> {
    for (;;) {
      const fit = fitting(batch, this.log);
      const soon = this.#soon;
      if (fit.length === 0 && soon.length === 0) return;
      await withGrace(this.#noteSources(fit), this.#signal, this.#graceMs);
      const { known } = this.ledger;
      const added = fit.map((record) => (record.kind === 'step' ? { ...record, known } : record));
      if (batch.every(({ isSoon }) => isSoon)) {
        for (const record of added) this.log.apply(record, this.log.lastSequence);
        soon.push(...added);
        return;
      }
      const records = [...soon, ...added];
      try {
        const stored = await withGrace(
          this.#store.append(this.ref, messagesOf(records, this.log), {
            afterSequence: this.log.lastSequence,
            ...this.#heldBy(records),
          }),
          this.#signal,
          this.#graceMs,
        );
        this.#soon = [];
        records.forEach((record, index) => {
          const sequence = stored[index]?.sequence ?? this.log.lastSequence + 1;
          if (index < soon.length) this.log.lastSequence = sequence;
          else this.log.apply(record, sequence);
        });
        this.log.lastStoredAt = stored.at(-1)?.createdAt;
        this.log.startedAt ??= stored[0]?.createdAt;
        return;
      } catch (error) {
        if (errorCodeOf(error) !== 'SESSION_CHANGED') throw error;
        if (!(await withGrace(this.#readAsides(), this.#signal, this.#graceMs))) throw error;
      }
    }
  }

  /** @throws `SESSION_TAKEN` */
  #heldBy(records: readonly AgentRecord[]): Pick<SessionAppendOptions, 'epoch' | 'aside'> {
    if (this.#claim === undefined) return records.every(isAside) ? { aside: true } : {};
    this.#claim.assertHeld();
    const { epoch } = this.#claim;
    return epoch === undefined ? {} : { epoch };
  }

  async #noteSources(records: readonly AgentRecord[]): Promise<void> {
    // Content that others had read when the calls were issued counts as a source of these calls.
    if (records.some(({ kind }) => kind === 'step')) await this.ledger.refresh();
    await this.ledger.addSources(records.flatMap((record) => this.log.sourceOf(record) ?? []));
  }

  /**
   * Reads the use of background sub-agents. If anything else was added, another process writes to
   * this session.
   */
  async #readAsides(): Promise<boolean> {
    const { log } = this;
    const messages = await this.#store.messages(this.ref.id, { afterSequence: log.lastSequence });
    const records = messages.map(({ data }) => parseRecord(data));
    if (records.length === 0 || records.some((record) => !isAside(record))) return false;
    applyAll(log, messages);
    return true;
  }
}

function isAside(record: AgentRecord | undefined): boolean {
  return record?.kind === 'delegated';
}

/**
 * The log of a session as it is stored.
 *
 * @param options.log a log with the first part of the records; the rest is added to it
 * @throws `TURN_INVALID`, and as `SessionStore.messages`
 */
export async function readLog(
  store: SessionStore,
  sessionId: string,
  {
    history = true,
    log = new SessionLog({ history }),
  }: { history?: boolean; log?: SessionLog } = {},
): Promise<SessionLog> {
  for (;;) {
    const page = await store.messages(sessionId, { afterSequence: log.lastSequence });
    if (page.length === 0) return log;
    applyAll(log, page);
  }
}

/** The record of a stored message, of this version or an earlier one; `undefined` for anything else. */
export function storedRecord(data: unknown): AgentRecord | EarlierRecord | undefined {
  return parseRecord(data) ?? parseEarlier(data);
}

function applyAll(log: SessionLog, messages: readonly SessionMessage[]): void {
  for (const { data, sequence, createdAt } of messages) {
    const record = storedRecord(data);
    if (record === undefined) {
      throw damaged(sequence, 'is not one of this agent loop, or it is damaged');
    }
    log.apply(record, sequence);
    log.lastStoredAt = createdAt;
    log.startedAt ??= createdAt;
  }
}

/** A record as it will be read back. @throws `TURN_INVALID` */
function asRead(record: AgentRecord): AgentRecord {
  const read = parseRecord(plainJson(messageOf(record, () => undefined).data));
  if (read !== undefined) return read;
  throw new EthosError(
    'TURN_INVALID',
    `a record of the turn (${record.kind}) was not written, since it is not plain data that can be read again`,
  );
}

function plainJson(data: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(data));
  } catch {
    return undefined;
  }
}

/** The records that may come next. An append whose records may not come next is refused. */
function fitting(batch: readonly Waiting[], log: SessionLog): AgentRecord[] {
  let rules = log.rules();
  return batch.flatMap(({ records, reject }) => {
    const [first, ...rest] = records;
    if (rest.length === 0) {
      if (first === undefined || rules.take(first)) return records;
    } else {
      const next = rules.fork();
      if (records.every((record) => next.take(record))) {
        rules = next;
        return records;
      }
    }
    reject(
      new EthosError(
        'TURN_INVALID',
        `the turn has moved on since this record (${first?.kind}) was made, so it was not written; read the state of the session before you go on`,
      ),
    );
    return [];
  });
}

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
