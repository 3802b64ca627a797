import {
  type Check,
  canonicalJson,
  isAmount,
  isAnything,
  isBoolean,
  isListOf,
  isObject,
  isOneOf,
  isSameOwner,
  isShape,
  isString,
  Turns,
} from '@ethosagent/policy';
import {
  EthosError,
  errorCodeOf,
  type SessionOwner,
  type SessionRef,
  type SessionStore,
} from '@ethosagent/types';
import type { ResolvedGrant } from '../capabilities/resolved-grant.js';
import type { PendingApproval, SessionGrant, UntrustedSource } from './session-api.js';

const VERSION = 1;
const PREFIX = 'protections of ';
/** Attempts to write while others write too. */
const MAX_ATTEMPTS = 20;
/** Sources that are remembered. That there are others is known all the same. */
const MAX_SOURCES = 50;

const isGrantOfCall: Check<ResolvedGrant> = (value): value is ResolvedGrant => isObject(value);
const isSource = isShape({ source: isString, tool: isString });
const isApproval = isShape(
  {
    toolCallId: isString,
    question: isString,
    toolName: isString,
    args: isAnything,
    capabilities: isGrantOfCall,
    reason: isString,
    askedAt: isAmount,
  },
  { settings: isAnything },
);
const isGrant = isShape(
  {
    id: isString,
    scope: isOneOf(['session', 'arguments', 'tool']),
    toolName: isString,
    tool: isString,
    capabilities: isGrantOfCall,
    sources: isListOf(isSource),
    personalityId: isString,
    grantedAt: isAmount,
  },
  { args: isAnything, settings: isAnything, by: isString },
);

type Checked<C> = C extends Check<infer T> ? T : never;

const CHECKS = {
  untrusted: isShape({ from: isSource }),
  asked: isShape({ approval: isApproval, input: isAnything }),
  decided: isShape(
    { call: isString, question: isString, approved: isBoolean },
    { reason: isString, args: isAnything, runs: isString, by: isString },
  ),
  /** A call that was decided on is taken up: it runs now, or its refusal was told. */
  taken: isShape({ call: isString, question: isString }),
  granted: isShape({ grant: isGrant }),
  revoked: isShape({ grant: isString }),
};

type RecordOf<K extends keyof typeof CHECKS> = { kind: K } & Checked<(typeof CHECKS)[K]>;

/** What is written down of the protections of a session. */
export type LedgerRecord = { [K in keyof typeof CHECKS]: RecordOf<K> }[keyof typeof CHECKS];

/** A call that was asked about and has not been taken up. */
export interface WaitingCall {
  approval: PendingApproval;
  /** The arguments as the model issued them. */
  input: unknown;
  /** The question that was answered, where a yes was to other arguments. */
  runs?: string;
}

/** Whether a session is kept for the protections of others. */
export function isLedgerSession(sessionId: string): boolean {
  return sessionId.startsWith(PREFIX);
}

/**
 * What is known of a session, kept in a session of its own that no tool sees. Each record is written
 * only where the others have been read, so that of several processes each goes by what all of them
 * wrote. Without a store it is kept in memory.
 */
export class SessionLedger {
  readonly #store: SessionStore | undefined;
  readonly #ref: SessionRef;
  readonly #turns = new Turns();
  readonly #sources = new Map<string, UntrustedSource>();
  readonly #waiting = new Map<string, WaitingCall>();
  readonly #grants = new Map<string, SessionGrant>();
  #isTainted = false;
  #sequence = 0;

  /** @param of the id of the session, or another name of whom it is kept for */
  constructor(
    store: SessionStore | undefined,
    of: string,
    { userScopeId, teamId }: Partial<SessionOwner> = {},
  ) {
    this.#store = store;
    this.#ref = {
      id: PREFIX + of,
      // Of no memory scope: it is not among the sessions that tools search.
      scopeId: 'protections',
      ...(userScopeId !== undefined && { userScopeId }),
      ...(teamId !== undefined && { teamId }),
    };
  }

  get isTainted(): boolean {
    return this.#isTainted;
  }

  /** The first first. */
  get sources(): UntrustedSource[] {
    return [...this.#sources.values()];
  }

  /** In the order in which they were asked. */
  get waiting(): WaitingCall[] {
    return [...this.#waiting.values()];
  }

  get grants(): SessionGrant[] {
    return [...this.#grants.values()];
  }

  waitingCall(toolCallId: string): WaitingCall | undefined {
    return this.#waiting.get(toolCallId);
  }

  /**
   * Reads what others wrote.
   * @throws `STORE_UNAVAILABLE`; `SESSION_OWNER_MISMATCH`; `STORE_CORRUPT` for what can't be read
   */
  refresh(): Promise<void> {
    return this.#turns.run('', () => this.#read());
  }

  /**
   * Writes the records that `next` gives for what is known by then, or nothing.
   * @param next called again where others wrote meanwhile; what it throws is thrown
   * @throws `SESSION_CHANGED` when others never stop writing; as `refresh`
   */
  append(next: () => readonly LedgerRecord[]): Promise<void> {
    return this.#turns.run('', () => this.#append(next));
  }

  /** Notes content that somebody else may have written. Nothing is written for what is known. */
  async addSources(found: readonly UntrustedSource[]): Promise<void> {
    const isNew = (from: UntrustedSource) =>
      !this.#isTainted || (!this.#sources.has(keyOf(from)) && this.#sources.size < MAX_SOURCES);
    if (!found.some(isNew)) return;
    await this.append(() =>
      [...new Map(found.map((from) => [keyOf(from), from])).values()]
        .filter(isNew)
        .map((from) => ({ kind: 'untrusted', from })),
    );
  }

  async #append(next: () => readonly LedgerRecord[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      // As whoever reads them will see them.
      const records = plain(next());
      if (records.length === 0) return;
      if (this.#store === undefined) {
        for (const record of records) this.#apply(record);
        return;
      }
      try {
        const stored = await this.#store.append(
          this.#ref,
          records.map((record) => ({ role: 'system', text: '', data: { v: VERSION, ...record } })),
          { afterSequence: this.#sequence },
        );
        for (const record of records) this.#apply(record);
        this.#sequence = stored.at(-1)?.sequence ?? this.#sequence + records.length;
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
      const page = await this.#store.messages(id, { afterSequence: this.#sequence });
      if (page.length === 0) return;
      if (this.#sequence === 0) await this.#assertOwner(this.#store);
      for (const { data, sequence } of page) {
        const record = parse(data);
        if (record === undefined) {
          throw new EthosError(
            'STORE_CORRUPT',
            `message ${sequence} of the session ${JSON.stringify(id)} can not be read; use another session`,
          );
        }
        this.#apply(record);
        this.#sequence = sequence;
      }
    }
  }

  async #assertOwner(store: SessionStore): Promise<void> {
    const info = await store.get(this.#ref.id);
    if (info === null || isSameOwner(info, this.#ref)) return;
    throw new EthosError('SESSION_OWNER_MISMATCH', 'the session belongs to another owner');
  }

  #apply(record: LedgerRecord): void {
    switch (record.kind) {
      case 'untrusted':
        this.#isTainted = true;
        if (this.#sources.size < MAX_SOURCES) this.#sources.set(keyOf(record.from), record.from);
        break;
      case 'asked': {
        const { toolCallId } = record.approval;
        // Where it asks again, it stands behind what was asked before.
        this.#waiting.delete(toolCallId);
        this.#waiting.set(toolCallId, { approval: record.approval, input: record.input });
        break;
      }
      case 'decided':
        this.#decide(record);
        break;
      case 'taken':
        if (this.#waiting.get(record.call)?.approval.question === record.question) {
          this.#waiting.delete(record.call);
        }
        break;
      case 'granted':
        this.#grants.set(record.grant.id, record.grant);
        break;
      case 'revoked':
        this.#grants.delete(record.grant);
    }
  }

  #decide({ kind: _, call, question, runs, ...decision }: RecordOf<'decided'>): void {
    const waiting = this.#waiting.get(call);
    if (waiting?.approval.question !== question) return;
    this.#waiting.set(call, {
      ...waiting,
      approval: { ...waiting.approval, decision },
      ...(runs !== undefined && { runs }),
    });
  }
}

function keyOf({ source, tool }: UntrustedSource): string {
  return canonicalJson([source, tool]);
}

function parse(data: unknown): LedgerRecord | undefined {
  if (!isObject(data) || data.v !== VERSION) return undefined;
  const { v: _, ...record } = data;
  return isRecord(record) ? record : undefined;
}

function isRecord(
  record: Record<string, unknown>,
): record is Record<string, unknown> & LedgerRecord {
  const { kind } = record;
  return (
    typeof kind === 'string' &&
    Object.hasOwn(CHECKS, kind) &&
    CHECKS[kind as keyof typeof CHECKS](record)
  );
}

/** @throws `VALUE_INVALID` for what could not be read again */
function plain(records: readonly LedgerRecord[]): LedgerRecord[] {
  const copies: unknown = JSON.parse(
    JSON.stringify(records, (_, value) =>
      typeof value === 'string' ? value.toWellFormed() : value,
    ),
  );
  if (
    Array.isArray(copies) &&
    copies.every((copy): copy is LedgerRecord => isObject(copy) && isRecord(copy))
  )
    return copies;
  throw new EthosError(
    'VALUE_INVALID',
    'what was to be written down of the session could not be read again',
  );
}
