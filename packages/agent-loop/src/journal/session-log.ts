import { type AttachmentInfo, EthosError } from '@ethosagent/types';
import type { AgentUsage, PendingApproval, TurnEnd } from '../api.js';
import { addUsage, NO_USAGE } from '../usage.js';
import { canonicalJson } from './canonical-json.js';
import {
  type AgentRecord,
  callsOf,
  type ResultRecord,
  type StepCall,
  type StepRecord,
  textOf,
  type UserRecord,
} from './records.js';

/** A call of the turn, and how far it is. */
export interface LoggedCall {
  call: StepCall;
  /** Its place among the calls of the turn, from 1. */
  ordinal: number;
  /** How many calls in a row, itself included, were the very same. */
  repeats: number;
  /** It was about to run: whether it did is not known until there is a result. */
  started: boolean;
  approval?: PendingApproval;
  result?: ResultRecord;
}

export interface LoggedStep {
  record: StepRecord;
  /** The model had untrusted content before it when it made the calls. */
  isTainted: boolean;
  calls: LoggedCall[];
}

/** The last turn of a session. */
export interface LoggedTurn {
  turn: number;
  attachments: readonly AttachmentInfo[];
  /** Absent while the turn is not over. */
  end?: TurnEnd;
  steps: number;
  calls: number;
  usage: AgentUsage;
  /** What the model said last. */
  text: string;
  step?: LoggedStep;
}

/** A user message, or a step with its results. */
export type LoggedEntry = UserRecord | LoggedStep;

/**
 * What a session's records come to. Every record goes through `apply`, those that are read and
 * those that were just written, so that a turn that is resumed stands where the other one stood.
 */
export class SessionLog {
  /** The sequence of the last message. */
  lastSequence = 0;
  messageCount = 0;
  turn: LoggedTurn | undefined;
  /** Untrusted content is in the history. */
  untrusted = false;
  readonly entries: LoggedEntry[] = [];
  readonly #calls = new Map<string, LoggedCall>();
  #lastCall = '';
  #repeats = 0;

  /** Whether a call of the session has this id. */
  hasCall(id: string): boolean {
    return this.#calls.has(id);
  }

  toolNameOf(id: string): string | undefined {
    return this.#calls.get(id)?.call.name;
  }

  call(id: string): LoggedCall | undefined {
    return this.#calls.get(id);
  }

  /** The calls of the last step that have no result. */
  openCalls(): LoggedCall[] {
    const turn = this.turn;
    if (turn?.end !== undefined) return [];
    return turn?.step?.calls.filter(({ result }) => result === undefined) ?? [];
  }

  /** @throws `TURN_INVALID` for a record that can not come here */
  apply(record: AgentRecord, sequence: number): void {
    if (!this.#add(record)) throw damaged(sequence, 'does not follow from those before it');
    this.lastSequence = sequence;
    this.messageCount += 1;
  }

  #add(record: AgentRecord): boolean {
    if (record.kind === 'user') return this.#addUser(record);
    const { turn } = this;
    if (turn === undefined || turn.turn !== record.turn || turn.end !== undefined) return false;
    switch (record.kind) {
      case 'step':
        return this.#addStep(turn, record);
      case 'started':
        return record.calls.every((id) =>
          this.#change(id, (call) => {
            call.started = true;
          }),
        );
      case 'result':
        return this.#change(record.call, (call) => {
          call.result = record;
          this.untrusted ||= record.untrusted === true;
          turn.usage = addUsage(turn.usage, { ...NO_USAGE, costUsd: record.costUsd ?? 0 });
        });
      case 'asked':
        return this.#change(record.approval.toolCallId, (call) => {
          call.approval = record.approval;
        });
      case 'decided':
        return this.#change(record.call, (call) => {
          if (call.approval === undefined) return;
          const { approved, reason } = record;
          call.approval = {
            ...call.approval,
            decision: { approved, ...(reason !== undefined && { reason }) },
          };
        });
      case 'resumed':
        return true;
      case 'end':
        if (this.openCalls().length > 0) return false;
        turn.end = record.end;
        return true;
    }
  }

  #addUser(record: UserRecord): boolean {
    const before = this.turn;
    if (before !== undefined && before.end === undefined) return false;
    if (record.turn !== (before?.turn ?? 0) + 1) return false;
    this.turn = {
      turn: record.turn,
      attachments: record.attachments ?? [],
      steps: 0,
      calls: 0,
      usage: NO_USAGE,
      text: '',
    };
    this.untrusted ||= record.untrusted === true;
    this.#lastCall = '';
    this.entries.push(record);
    return true;
  }

  #addStep(turn: LoggedTurn, record: StepRecord): boolean {
    const calls = callsOf(record);
    const ids = new Set(calls.map(({ id }) => id));
    const isNew = ids.size === calls.length && calls.every(({ id }) => !this.#calls.has(id));
    if (!isNew || this.openCalls().length > 0) return false;
    this.untrusted ||= record.untrusted === true;
    const step: LoggedStep = {
      record,
      isTainted: this.untrusted,
      calls: calls.map((call) => this.#logged(turn, call)),
    };
    for (const logged of step.calls) this.#calls.set(logged.call.id, logged);
    turn.steps += 1;
    turn.usage = addUsage(turn.usage, record.usage);
    turn.text = textOf(record);
    turn.step = step;
    this.entries.push(step);
    return true;
  }

  #logged(turn: LoggedTurn, call: StepCall): LoggedCall {
    const key = `${call.name} ${canonicalJson(call.input)}`;
    this.#repeats = key === this.#lastCall ? this.#repeats + 1 : 1;
    this.#lastCall = key;
    turn.calls += 1;
    return { call, ordinal: turn.calls, repeats: this.#repeats, started: false };
  }

  #change(id: string, change: (call: LoggedCall) => void): boolean {
    const call = this.#calls.get(id);
    if (call === undefined || call.result !== undefined) return false;
    change(call);
    return true;
  }
}

export function damaged(sequence: number, problem: string): EthosError {
  return new EthosError(
    'TURN_INVALID',
    `message ${sequence} of the session ${problem}; use another session`,
  );
}
