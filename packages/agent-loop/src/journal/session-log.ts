import { SourceList, sourceOfCall, sourceOfContent, type UntrustedSource } from '@ethosagent/core';
import { canonicalJson } from '@ethosagent/policy';
import { type AttachmentInfo, EthosError } from '@ethosagent/types';
import type { AgentUsage, TurnEnd } from '../api.js';
import { applyContext, type SummedUp } from '../context/apply-context.js';
import { READ_RESULT } from '../context/read-result.js';
import { addUsage, NO_USAGE } from '../usage.js';
import type { EarlierRecord } from './earlier-records.js';
import {
  type AgentRecord,
  type ContextRecord,
  callsOf,
  type InnerRecord,
  type ResultRecord,
  type StepCall,
  type StepRecord,
  textOf,
  type UserRecord,
} from './records.js';
import { SessionRules } from './session-rules.js';
import { ShownImages } from './shown-images.js';

/** A call of the turn, and its progress. */
export interface LoggedCall {
  call: StepCall;
  /** Its number among the calls of the turn, from 1. */
  ordinal: number;
  /** How many identical calls came in a row, including this one. */
  repeats: number;
  /** The call was about to run. Without a result, it is not known whether it ran. */
  started: boolean;
  /** The arguments it was started with, if they differ from those of the model. */
  edited?: unknown;
  /** The digest of the tool and the personality under which it was started. */
  under?: string;
  /** The calls that its tool was about to make. */
  inner?: InnerLogged[];
  result?: ResultRecord;
}

/** A call that a tool made. */
export interface InnerLogged {
  id: string;
  name: string;
  /** The start of its arguments, as JSON. */
  args: string;
  /** Whether it has ended. Its tool got the result then. */
  hasEnded: boolean;
}

export interface LoggedStep {
  record: StepRecord;
  /** The sources of untrusted content that its results brought first. */
  brought: UntrustedSource[];
  calls: LoggedCall[];
}

/** The last turn of a session. */
export interface LoggedTurn {
  turn: number;
  key?: string;
  attachments: readonly AttachmentInfo[];
  /** The personality of the turn. */
  personality?: string;
  /** Absent until the turn has ended. */
  end?: TurnEnd;
  steps: number;
  calls: number;
  /** What the turn itself used. */
  usage: AgentUsage;
  /** How many sub-agents it has begun, and what they used. */
  delegated: { begun: number; usage: AgentUsage };
  /** The answer so far: the last text of the model, or the text of a tool that answers instead. */
  text: string;
  step?: LoggedStep;
}

/** A user message, a step with its results, or the summary that replaces some of them. */
export type LoggedEntry = UserRecord | LoggedStep | SummedUp;

/**
 * The state that the records of a session describe. Every record goes through `apply`, whether it
 * was read or was just written. So a resumed turn has the same state as the original one.
 */
export class SessionLog {
  /** The sequence of the last message. */
  lastSequence = 0;
  messageCount = 0;
  firstRecord: AgentRecord | EarlierRecord | undefined;
  lastRecord: AgentRecord | EarlierRecord | undefined;
  /** When the last message was stored, by the clock of the store. */
  lastStoredAt: number | undefined;
  /** The same of its first record. */
  startedAt: number | undefined;
  turn: LoggedTurn | undefined;
  /** Turns that were begun with a key, and how they ended. */
  readonly keys = new Map<string, { turn: number; end?: TurnEnd }>();
  readonly #sources = new SourceList();
  /** What the model is shown; empty if no model is asked. */
  readonly entries: LoggedEntry[] = [];
  /** Whether results were cleared or entries were summed up. */
  isShortened = false;
  /** Tools that were added to those of the model, in order. */
  readonly appended: string[] = [];
  /** The tokens that the model counted for its last prompt, and the estimate for it. */
  counted: { inputTokens: number; estimate: number } | undefined;
  readonly #hasHistory: boolean;
  readonly #rules = new SessionRules();
  readonly #images = new ShownImages();
  /** The calls of the last step. */
  #calls = new Map<string, LoggedCall>();
  #lastCall = '';
  #repeats = 0;
  /** The approved arguments of calls, from records of an earlier version. */
  readonly #edits = new Map<string, { edited: unknown }>();

  /** @param options `history`: whether to keep what only a model needs */
  constructor(options: { history: boolean } = { history: true }) {
    this.#hasHistory = options.history;
  }

  /**
   * The sources of untrusted content in the records. The ledger knows all that the session has
   * read.
   */
  get sources(): UntrustedSource[] {
    return this.#sources.all;
  }

  /** Whether a call of the session has this id. */
  hasCall(id: string): boolean {
    return this.#rules.hasCall(id);
  }

  toolNameOf(id: string): string | undefined {
    return this.#calls.get(id)?.call.name;
  }

  /** The rules for the next record. */
  rules(): SessionRules {
    return this.#rules.fork();
  }

  /** The calls of the last step whose results show images. The model has not answered to those yet. */
  callsWithNewImages(): string[] {
    return [...this.#calls.values()].flatMap(({ call, result }) =>
      result?.images?.length ? [call.id] : [],
    );
  }

  openCalls(): LoggedCall[] {
    const turn = this.turn;
    if (turn?.end !== undefined) return [];
    return turn?.step?.calls.filter(({ result }) => result === undefined) ?? [];
  }

  /** @throws `TURN_INVALID` for a record that may not come next */
  apply(record: AgentRecord | EarlierRecord, sequence: number): void {
    if (!this.#rules.take(record)) throw damaged(sequence, 'does not follow from those before it');
    this.#add(record);
    this.lastSequence = sequence;
    this.firstRecord ??= record;
    this.lastRecord = record;
    this.messageCount += 1;
  }

  #add(record: AgentRecord | EarlierRecord): void {
    if (record.kind === 'asked' || record.kind === 'decided') {
      this.#addEarlier(record);
      return;
    }
    const { turn } = this;
    this.#noteSource(record);
    if (record.kind === 'user') this.#addUser(record);
    else if (turn !== undefined) this.#addTo(turn, record);
  }

  #addTo(turn: LoggedTurn, record: Exclude<AgentRecord, UserRecord>): void {
    switch (record.kind) {
      case 'step':
        this.#addStep(turn, record);
        break;
      case 'started':
        for (const id of record.calls) {
          this.#change(id, { ...this.#edits.get(id), ...startOf(record) });
        }
        break;
      case 'result':
        this.#addResult(turn, record);
        break;
      case 'inner':
        this.#addInner(turn, record);
        break;
      case 'inner_result':
        this.#endInner(record.call);
        turn.usage = addUsage(turn.usage, { ...NO_USAGE, costUsd: record.costUsd ?? 0 });
        break;
      case 'delegated':
        turn.calls += record.calls ?? 0;
        turn.delegated = {
          begun: turn.delegated.begun + record.begun,
          usage: addUsage(turn.delegated.usage, record.usage),
        };
        break;
      case 'context':
        this.#shorten(turn, record);
        break;
      case 'images_refused':
        for (const id of record.calls) this.#images.refuse(this.#calls.get(id)?.result);
        break;
      case 'end':
        turn.end = record.end;
        if (turn.key !== undefined) this.keys.set(turn.key, { turn: turn.turn, end: record.end });
        break;
      case 'resumed':
    }
  }

  /**
   * A call that waited under an earlier version is asked about again. An earlier approval does not
   * let it run.
   */
  #addEarlier(record: EarlierRecord): void {
    // The approved arguments show where the content that the call read came from.
    if ('args' in record) this.#edits.set(record.call, { edited: record.args });
    else this.#edits.delete(record.call);
  }

  #addUser(record: UserRecord): void {
    const { turn, attachments = [], personality, key } = record;
    if (key !== undefined) this.keys.set(key, { turn });
    this.turn = {
      turn,
      attachments,
      ...(key !== undefined && { key }),
      ...(personality !== undefined && { personality }),
      steps: 0,
      calls: 0,
      usage: NO_USAGE,
      delegated: { begun: 0, usage: NO_USAGE },
      text: '',
    };
    this.#lastCall = '';
    this.#keep(record);
  }

  #addStep(turn: LoggedTurn, record: StepRecord): void {
    const step: LoggedStep = {
      record,
      brought: [],
      calls: callsOf(record).map((call) => this.#logged(turn, call)),
    };
    this.#calls = new Map(step.calls.map((logged) => [logged.call.id, logged]));
    turn.steps += 1;
    turn.usage = addUsage(turn.usage, record.usage);
    turn.text = textOf(record);
    turn.step = step;
    if (record.estimate !== undefined) {
      this.counted = { inputTokens: record.usage.inputTokens, estimate: record.estimate };
    }
    this.#keep(step);
  }

  #addInner(turn: LoggedTurn, { parent, call: id, name, args }: InnerRecord): void {
    turn.calls += 1;
    const caller = this.#calls.get(parent);
    if (caller === undefined) return;
    caller.inner ??= [];
    caller.inner.push({ id, name, args, hasEnded: false });
  }

  #endInner(id: string): void {
    for (const { inner = [] } of this.#calls.values()) {
      const found = inner.find((each) => each.id === id);
      if (found !== undefined) found.hasEnded = true;
    }
  }

  #shorten(turn: LoggedTurn, record: ContextRecord): void {
    this.isShortened = true;
    this.#tellOf([READ_RESULT]);
    turn.usage = addUsage(turn.usage, record.summary?.usage ?? NO_USAGE);
    applyContext(this.entries, record);
  }

  /** The answer that tools of the last step gave for the turn, once all its calls have ended. */
  directAnswer(): string | undefined {
    if (this.openCalls().length > 0) return undefined;
    const answers = this.turn?.step?.calls.flatMap(({ result }) => result?.answer ?? []) ?? [];
    return answers.length === 0 ? undefined : answers.join('\n\n');
  }

  #addResult(turn: LoggedTurn, record: ResultRecord): void {
    const result = this.#hasHistory ? record : { ...record, output: '', images: [] };
    this.#change(record.call, { result });
    this.#tellOf(record.found ?? []);
    this.#images.add(result);
    turn.text = this.directAnswer() ?? turn.text;
    turn.usage = addUsage(turn.usage, { ...NO_USAGE, costUsd: record.costUsd ?? 0 });
  }

  #tellOf(names: readonly string[]): void {
    for (const name of names) if (!this.appended.includes(name)) this.appended.push(name);
  }

  /** The source of the untrusted content in a record; `undefined` if it has none. */
  sourceOf(record: AgentRecord): UntrustedSource | undefined {
    if (!('untrusted' in record) || record.untrusted !== true) return undefined;
    if (record.kind === 'inner_result') return record.source;
    if (record.kind === 'user') {
      const { prompt, attachments = [] } = record;
      return {
        source: sourceOfContent('the message of a user', [prompt, attachments]),
        tool: 'user',
      };
    }
    if (record.kind === 'step' || record.kind === 'context') {
      const { known: _, ...said } = { known: 0, ...record };
      return { source: sourceOfContent('a search of the provider', said), tool: 'model' };
    }
    const { call: { name, input } = { name: '', input: {} }, edited } =
      this.#calls.get(record.call) ?? {};
    const { from } = record;
    return from === undefined ? sourceOfCall(name, edited ?? input) : { source: from, tool: name };
  }

  #noteSource(record: AgentRecord): void {
    const source = this.sourceOf(record);
    if (source === undefined) return;
    const isResult = record.kind === 'result' || record.kind === 'inner_result';
    if (isResult && this.#sources.isNew(source)) {
      this.turn?.step?.brought.push(source);
    }
    this.#sources.add(source);
  }

  #keep(entry: LoggedEntry): void {
    if (this.#hasHistory) this.entries.push(entry);
  }

  #logged(turn: LoggedTurn, call: StepCall): LoggedCall {
    const key = `${call.name} ${canonicalJson(call.input)}`;
    this.#repeats = key === this.#lastCall ? this.#repeats + 1 : 1;
    this.#lastCall = key;
    turn.calls += 1;
    return { call, ordinal: turn.calls, repeats: this.#repeats, started: false };
  }

  #change(id: string, change: { [K in keyof LoggedCall]?: LoggedCall[K] | undefined }): void {
    const call = this.#calls.get(id);
    if (call !== undefined) Object.assign(call, change);
  }
}

export function damaged(sequence: number, problem: string): EthosError {
  return new EthosError(
    'TURN_INVALID',
    `message ${sequence} of the session ${problem}; use another session`,
  );
}

function startOf(record: Extract<AgentRecord, { kind: 'started' }>): Partial<LoggedCall> {
  const { under } = record;
  return {
    started: true,
    ...('edited' in record && { edited: record.edited }),
    ...(under !== undefined && { under }),
  };
}
