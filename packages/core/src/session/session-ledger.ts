import { canonicalJson, isSameOwner, Turns } from '@ethosagent/policy';
import {
  EthosError,
  errorCodeOf,
  type SessionMessage,
  type SessionOwner,
  type SessionRef,
  type SessionStore,
} from '@ethosagent/types';
import {
  dataOf,
  type LedgerRecord,
  parseRecord,
  plainRecords,
  type RecordOf,
} from './ledger-records.js';
import type { PendingApproval, SessionGrant, UntrustedSource } from './session-api.js';
import { SessionUse, sumOfUse, type Use } from './session-use.js';
import { keyOf, SourceList } from './source-list.js';

const PREFIX = 'protections of ';
/** How often a write is tried while other processes write too. */
const MAX_ATTEMPTS = 20;

/** A call that a person was asked about, and that has not used the decision yet. */
export interface WaitingCall {
  approval: PendingApproval;
  /** The arguments as the model issued them. */
  input: unknown;
  /** The untrusted content that was known when the person was asked. */
  sources: readonly UntrustedSource[];
  /** The question that the decision answers, if it approved other arguments. */
  runs?: string;
}

/** `taken`: the decision was used, or told to the model. `withdrawn`: the call does not run. */
export type SettledCall = 'taken' | 'withdrawn';

/** The id of the session that holds the protections of another session. */
export function sessionLedgerId(sessionId: string): string {
  return PREFIX + sessionPart(sessionId);
}

/**
 * The session that a ledger belongs to.
 *
 * @param id of a session of the store
 * @returns `undefined` if it is not a ledger, or the ledger of an owner
 */
export function sessionOfLedger(id: string): string | undefined {
  const [kind, encoded, ...more] = id.startsWith(PREFIX) ? id.slice(PREFIX.length).split(' ') : [];
  if (kind !== 'session' || encoded === undefined || more.length > 0) return undefined;
  try {
    const sessionId = decodeURIComponent(encoded);
    return sessionLedgerId(sessionId) === id ? sessionId : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The part of a ledger's id that names its session.
 *
 * @param sessionId of the session
 * @returns a text whose only space is the one after `session`
 */
export function sessionPart(sessionId: string): string {
  return `session ${encodeURIComponent(sessionId.toWellFormed())}`;
}

/** The name of the ledger of untrusted files. */
export const FILES_PART = 'files';

/** Whether it is the ledger of untrusted files. */
export function isFilesLedger(sessionId: string): boolean {
  return sessionId === PREFIX + FILES_PART;
}

/**
 * Whether a session of the store is the ledger of another one.
 *
 * @param sessionId of the session
 */
export function isLedgerSession(sessionId: string): boolean {
  return sessionId.startsWith(PREFIX);
}

/**
 * What is known about a session, stored in a session of its own that no tool sees. A record is
 * written only after the records of others have been read. So all processes act on the same
 * records. Without a store, it is kept in memory.
 *
 * If the ledger was deleted meanwhile, together with its session, questions and grants are gone.
 * But the model of this process still has the content that was read, and the changed files are
 * still on the disk. So both are recorded again.
 */
export class SessionLedger {
  readonly #store: SessionStore | undefined;
  readonly #ref: SessionRef;
  readonly #turns = new Turns();
  readonly #sources = new SourceList();
  /** By the origin of the call: the session itself, or a turn of an agent. */
  readonly #waiting = new Map<string, WaitingCall>();
  readonly #settled = new Map<string, SettledCall>();
  readonly #grants = new Map<string, SessionGrant>();
  readonly #written = new Set<string>();
  readonly #use = new SessionUse();
  #isTainted = false;
  /** Whether the store has the records of what was read and written. */
  #isStored = true;
  #sequence = 0;
  /** The last known record, as it is stored. */
  #last: string | undefined;

  /**
   * Reads nothing before `refresh`.
   *
   * @param store `undefined` keeps the ledger in memory
   * @param of the id of the session, or another name of what it belongs to
   * @param owner the user and the team that the session belongs to
   */
  constructor(
    store: SessionStore | undefined,
    of: string,
    { userScopeId, teamId }: Partial<SessionOwner> = {},
  ) {
    this.#store = store;
    this.#ref = {
      id: PREFIX + of,
      // In a memory scope of its own, so that tools that search sessions do not find it.
      scopeId: 'protections',
      ...(userScopeId !== undefined && { userScopeId }),
      ...(teamId !== undefined && { teamId }),
    };
  }

  get isTainted(): boolean {
    return this.#isTainted;
  }

  /** The oldest first. */
  get sources(): UntrustedSource[] {
    return this.#sources.all;
  }

  /** How many sources were noted. Remember it to find out later what was known now. */
  get known(): number {
    return this.#sources.count;
  }

  /**
   * The sources, without those of `own` that were noted after `known`.
   *
   * @param options `own`, and `known`: an earlier value of `known` of this ledger
   * @returns the sources, the oldest first
   */
  sourcesBut({
    own,
    known,
  }: {
    own: readonly UntrustedSource[];
    known: number;
  }): UntrustedSource[] {
    return this.#sources.without(own, known);
  }

  /** In the order in which they were asked about. */
  get waiting(): WaitingCall[] {
    return [...this.#waiting.values()];
  }

  get grants(): SessionGrant[] {
    return [...this.#grants.values()];
  }

  /** Files and folders, each with everything below it. */
  get written(): ReadonlySet<string> {
    return this.#written;
  }

  /**
   * Counts what the session used up, only in this process.
   *
   * @param use what was used
   */
  count(use: Use): void {
    this.#use.count(use);
  }

  /**
   * Counts what the session uses up, and records it together with everything that was counted
   * before.
   *
   * @param use what is about to be used
   * @param assert gets what was used until then. If it throws, nothing is counted
   * @throws as `append`
   */
  spend(use: Use, assert: (used: Use) => void): Promise<void> {
    let before = use;
    const next = (): LedgerRecord[] => {
      assert(this.#use.total);
      before = this.#use.unstored;
      return [{ kind: 'used', ...sumOfUse(before, use) }];
    };
    return this.#turns.run('', () => this.#append(next, () => this.#use.wasStored(before)));
  }

  /**
   * A waiting call that was made in the session itself, outside of an agent's turn.
   *
   * @param toolCallId of the call
   * @returns `undefined` if none waits
   */
  waitingCall(toolCallId: string): WaitingCall | undefined {
    return this.#waiting.get(placeOfCall({ toolCallId }));
  }

  /**
   * A waiting call of an agent's turn.
   *
   * @param turn number of the turn
   * @param toolCallId of the call
   * @returns `undefined` if none waits
   */
  turnCall(turn: number, toolCallId: string): WaitingCall | undefined {
    return this.#waiting.get(placeOfCall({ toolCallId, turn }));
  }

  /**
   * What became of a call of an agent's turn that no longer waits.
   *
   * @param turn number of the turn
   * @param toolCallId of the call
   * @returns `undefined` if it still waits, or never did
   */
  settledCall(turn: number, toolCallId: string): SettledCall | undefined {
    return this.#settled.get(placeOfCall({ toolCallId, turn }));
  }

  /**
   * The call that waits for the answer to a question.
   *
   * @param question its id
   * @returns `undefined` if none waits
   */
  question(question: string): WaitingCall | undefined {
    return this.waiting.find(({ approval }) => approval.question === question);
  }

  /**
   * Reads what others wrote.
   * @throws `STORE_UNAVAILABLE`; `SESSION_OWNER_MISMATCH`; `STORE_CORRUPT` for what can't be read
   */
  refresh(): Promise<void> {
    return this.#turns.run('', async () => {
      await this.#read();
      if (this.#isStored || this.#store === undefined) return;
      const paths = [...this.#written];
      await this.#append(() => [
        ...this.sources.map((from) => ({ kind: 'untrusted' as const, from })),
        ...(paths.length > 0 ? [{ kind: 'written' as const, paths }] : []),
      ]);
      this.#isStored = true;
    });
  }

  /**
   * Writes the records that `next` returns for the present state, if any.
   * @param next called again if others wrote meanwhile; what it throws is thrown
   * @throws `SESSION_CHANGED` if others never stop writing; as `refresh`
   */
  append(next: () => readonly LedgerRecord[]): Promise<void> {
    return this.#turns.run('', () => this.#append(next));
  }

  /**
   * Records content that somebody else may have written. Writes nothing for known sources.
   *
   * @param found the sources
   * @throws as `append`
   */
  async addSources(found: readonly UntrustedSource[]): Promise<void> {
    const isNew = (from: UntrustedSource) => this.#sources.isNew(from);
    if (!found.some(isNew)) return;
    await this.append(() =>
      [...new Map(found.map((from) => [keyOf(from), from])).values()]
        .filter(isNew)
        .map((from) => ({ kind: 'untrusted', from })),
    );
  }

  async #append(next: () => readonly LedgerRecord[], written = () => {}): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      // The records as they will be read back.
      const records = plainRecords(next());
      if (records.length === 0) return;
      if (this.#store === undefined) {
        for (const record of records) this.#apply(record);
        written();
        return;
      }
      try {
        const stored = await this.#store.append(
          this.#ref,
          records.map((record) => ({ role: 'system', text: '', data: dataOf(record) })),
          { afterSequence: this.#sequence },
        );
        for (const record of records) this.#apply(record);
        written();
        this.#know(stored.at(-1));
        return;
      } catch (error) {
        if (errorCodeOf(error) !== 'SESSION_CHANGED' || attempt >= MAX_ATTEMPTS) throw error;
        await this.#read();
      }
    }
  }

  async #read(): Promise<void> {
    if (this.#store === undefined) return;
    const { id } = this.#ref;
    for (;;) {
      // Includes the last known message: if it is no longer there, the ledger was deleted.
      const found = await this.#store.messages(id, {
        afterSequence: Math.max(0, this.#sequence - 1),
      });
      const page =
        this.#sequence === 0 ? found : this.#isLast(found[0]) ? found.slice(1) : undefined;
      if (page === undefined) {
        this.#startOver();
        continue;
      }
      if (page.length === 0) return;
      if (this.#sequence === 0) await this.#assertOwner(this.#store);
      for (const message of page) {
        const { data, sequence } = message;
        const record = parseRecord(data);
        if (record === undefined) {
          throw new EthosError(
            'STORE_CORRUPT',
            `message ${sequence} of the session ${JSON.stringify(id)} can not be read; use another session`,
          );
        }
        this.#apply(record);
        this.#know(message);
      }
    }
  }

  #know(message: SessionMessage | undefined): void {
    if (message === undefined) return;
    this.#sequence = message.sequence;
    this.#last = placeOf(message);
  }

  #isLast(message: SessionMessage | undefined): boolean {
    return message !== undefined && placeOf(message) === this.#last;
  }

  /** The ledger was deleted, here or by another process. */
  #startOver(): void {
    this.#waiting.clear();
    this.#settled.clear();
    this.#grants.clear();
    this.#use.startOver();
    this.#sequence = 0;
    this.#last = undefined;
    this.#isStored = false;
  }

  async #assertOwner(store: SessionStore): Promise<void> {
    const info = await store.get(this.#ref.id);
    if (info === null || isSameOwner(info, this.#ref)) return;
    throw new EthosError(
      'SESSION_OWNER_MISMATCH',
      'the session belongs to another owner; give the session another id',
    );
  }

  #apply(record: LedgerRecord): void {
    switch (record.kind) {
      case 'untrusted':
        this.#isTainted = true;
        this.#sources.add(record.from);
        break;
      case 'asked': {
        const { approval, input, sources = [] } = record;
        const place = placeOfCall(approval);
        // A call that asks again goes to the end of the list.
        this.#waiting.delete(place);
        this.#settled.delete(place);
        this.#waiting.set(place, { approval: { ...approval, input }, input, sources });
        break;
      }
      case 'decided':
        this.#decide(record);
        break;
      case 'taken':
      case 'withdrawn':
        this.#settle(record);
        break;
      case 'granted':
        this.#grants.set(record.grant.id, record.grant);
        break;
      case 'revoked':
        this.#grants.delete(record.grant);
        break;
      case 'used':
        this.#use.addStored(record);
        break;
      case 'written':
        for (const path of record.paths) this.#written.add(path);
        break;
      case 'cleared':
        for (const path of record.paths) this.#written.delete(path);
    }
  }

  #settle({ kind, question }: RecordOf<'taken'> | RecordOf<'withdrawn'>): void {
    const waiting = this.question(question);
    if (waiting === undefined) return;
    const place = placeOfCall(waiting.approval);
    this.#waiting.delete(place);
    if (waiting.approval.turn !== undefined) this.#settled.set(place, kind);
  }

  #decide({ kind: _, call: __, question, runs, ...decision }: RecordOf<'decided'>): void {
    const waiting = this.question(question);
    if (waiting === undefined) return;
    this.#waiting.set(placeOfCall(waiting.approval), {
      ...waiting,
      approval: { ...waiting.approval, decision },
      ...(runs !== undefined && { runs }),
    });
  }
}

/** The id of a call is unique within a turn, or within the session outside turns. */
function placeOfCall({ toolCallId, turn }: Pick<PendingApproval, 'toolCallId' | 'turn'>): string {
  return JSON.stringify([turn, toolCallId]);
}

/** A text that no other record shares. */
function placeOf({ sequence, createdAt, data }: SessionMessage): string {
  return canonicalJson([sequence, createdAt, data]);
}
