import { Turns, WrittenPlaces } from '@ethosagent/policy';
import type { SessionOwner, SessionStore } from '@ethosagent/types';
import { ledgerId } from './ledger-ids.js';
import { LedgerLog } from './ledger-log.js';
import type { LedgerRecord, RecordOf } from './ledger-records.js';
import type {
  PendingApproval,
  SessionGrant,
  UnfinishedCall,
  UntrustedSource,
} from './session-api.js';
import { SessionUse, sumOfUse, type Use } from './session-use.js';
import { keyOf, SourceList } from './source-list.js';

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
  readonly #log: LedgerLog;
  readonly #turns = new Turns();
  readonly #sources = new SourceList();
  /** By the origin of the call: the session itself, or a turn of an agent. */
  readonly #waiting = new Map<string, WaitingCall>();
  readonly #settled = new Map<string, SettledCall>();
  /** The calls of the session that have begun, and whose end is not recorded. */
  readonly #unfinished = new Map<string, UnfinishedCall>();
  readonly #grants = new Map<string, SessionGrant>();
  readonly #written = new WrittenPlaces();
  readonly #use = new SessionUse();
  #isTainted = false;
  #generation = 0;
  /** Whether the store has the records of what was read and written. */
  #isStored = true;

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
    const ref = {
      id: ledgerId(of),
      // In a memory scope of its own, so that tools that search sessions do not find it.
      scopeId: 'protections',
      ...(userScopeId !== undefined && { userScopeId }),
      ...(teamId !== undefined && { teamId }),
    };
    this.#log = new LedgerLog(store, ref, {
      apply: (record) => this.#apply(record),
      startOver: () => this.#startOver(),
    });
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

  /**
   * The calls of the session that began with an approval that had waited, and whose end is not
   * recorded. Of several with one id, the newest.
   */
  get unfinished(): UnfinishedCall[] {
    return [...this.#unfinished.values()];
  }

  get grants(): SessionGrant[] {
    return [...this.#grants.values()];
  }

  /** Files and folders, each with everything below it. */
  get written(): ReadonlySet<string> {
    return this.#written.all;
  }

  /** What is `written`, for questions. */
  get writtenPlaces(): Pick<WrittenPlaces, 'holds' | 'isWritten'> {
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
    return this.#turns.run('', () => this.#log.append(next, () => this.#use.wasStored(before)));
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
      await this.#log.read();
      if (this.#isStored) return;
      const paths = [...this.written];
      await this.#log.append(() => [
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
    return this.#turns.run('', () => this.#log.append(next));
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

  /** Changes each time it is found that the session was deleted, here or by another process. */
  get generation(): number {
    return this.#generation;
  }

  /** The session is deleted. What still runs in it may grant nothing to the next one of its id. */
  forget(): void {
    this.#generation += 1;
  }

  /** The ledger was deleted, here or by another process. */
  #startOver(): void {
    this.#generation += 1;
    this.#waiting.clear();
    this.#settled.clear();
    this.#unfinished.clear();
    this.#grants.clear();
    this.#use.startOver();
    this.#isStored = false;
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
      case 'ended':
        this.#finish(record);
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

  #settle(record: RecordOf<'taken'> | RecordOf<'withdrawn'>): void {
    const { kind, question } = record;
    if (kind === 'withdrawn') this.#finish(record);
    const waiting = this.question(question);
    if (waiting === undefined) return;
    const place = placeOfCall(waiting.approval);
    this.#waiting.delete(place);
    if (waiting.approval.turn !== undefined) this.#settled.set(place, kind);
    if (kind !== 'taken' || record.begunAt === undefined) return;
    // The newest goes to the end of the list.
    this.#unfinished.delete(place);
    this.#unfinished.set(place, { ...waiting.approval, begunAt: record.begunAt });
  }

  #finish({ call: toolCallId, question }: RecordOf<'ended'> | RecordOf<'withdrawn'>): void {
    const place = placeOfCall({ toolCallId });
    if (this.#unfinished.get(place)?.question === question) this.#unfinished.delete(place);
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
