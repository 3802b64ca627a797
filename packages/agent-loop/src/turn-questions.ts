import type {
  ApprovalBook,
  PendingApproval,
  SessionApprovals,
  SessionLedger,
} from '@ethosagent/core';
import type { AuditApproval, ToolCall, ToolResult } from '@ethosagent/types';
import type { LoggedCall } from './journal/session-log.js';
import { interrupted, notRun } from './turn-calls.js';

export interface TurnQuestionsParts {
  approvals: SessionApprovals;
  ledger: SessionLedger;
  turn: number;
}

/** The questions of one turn, as the session knew them at the last `refresh`. */
export class TurnQuestions {
  readonly #parts: TurnQuestionsParts;

  constructor(parts: TurnQuestionsParts) {
    this.#parts = parts;
  }

  /** Reads what others have decided. @throws as `SessionLedger.refresh` */
  refresh(): Promise<void> {
    return this.#parts.ledger.refresh();
  }

  readonly find: ApprovalBook['find'] = (toolCallId) => {
    const { ledger, turn } = this.#parts;
    return ledger.turnCall(turn, toolCallId);
  };

  /** The questions of the calls that wait, decided or not. */
  of(calls: readonly LoggedCall[]): PendingApproval[] {
    return calls.flatMap(({ call }) => this.find(call.id)?.approval ?? []);
  }

  isUndecided({ call }: LoggedCall): boolean {
    const { approval } = this.find(call.id) ?? {};
    return approval !== undefined && approval.decision === undefined;
  }

  /** The approved arguments of a call, if they differ from those of the model. */
  editedInput({ call }: LoggedCall): unknown {
    const { decision } = this.find(call.id)?.approval ?? {};
    return decision?.approved === true ? decision.args : undefined;
  }

  /** Returns the result for a call that must not run as it is; `undefined` if the call may run. */
  answerAtOnce(logged: LoggedCall): ToolResult | undefined {
    const { call, started } = logged;
    if (started) return interrupted(logged);
    if (call.problem !== undefined) {
      const { code } = call.problem;
      const cause = code === 'not_available' ? 'TOOL_NOT_FOUND' : 'INPUT_INVALID';
      return { ok: false, ...call.problem, cause };
    }
    const waiting = this.find(call.id);
    if (waiting === undefined) return this.#settledAnswer(call.id);
    const { decision } = waiting.approval;
    if (decision === undefined || decision.approved) return undefined;
    return notRun(
      decision.reason === undefined ? 'it was refused' : `it was refused: ${decision.reason}`,
      'NOT_APPROVED',
    );
  }

  /** Finds who refused a call, for the audit. */
  refusalOf({ call }: LoggedCall, now: number): AuditApproval | undefined {
    const { reason, askedAt, decision } = this.find(call.id)?.approval ?? {};
    if (reason === undefined || askedAt === undefined || decision?.approved !== false)
      return undefined;
    const { by } = decision;
    const waitedMs = Math.max(0, now - askedAt);
    return { approved: false, reason, waitedMs, ...(by !== undefined && { by }) };
  }

  #settledAnswer(toolCallId: string): ToolResult | undefined {
    const { ledger, turn } = this.#parts;
    switch (ledger.settledCall(turn, toolCallId)) {
      case 'withdrawn':
        return notRun(
          'the request for its approval was withdrawn; call it again only if it is still wanted',
          'NOT_APPROVED',
        );
      case 'taken':
        return notRun(
          'the program was restarted before the call ran, and the decision on it was lost; call it again to ask for approval again',
          'CALL_INTERRUPTED',
        );
      default:
        return undefined;
    }
  }

  /**
   * Uses the decision on a call that is about to run. After that, nobody can decide on it.
   *
   * @param answered the question that lets it run; without one, what still waits is used up
   * @throws as `SessionApprovals.take`
   */
  async take({ toolCallId, args }: ToolCall, answered: string | undefined): Promise<void> {
    const question = answered ?? this.find(toolCallId)?.approval.question;
    if (question !== undefined) await this.#parts.approvals.take({ toolCallId, question, args });
  }

  /** Removes the questions of calls that have their answer. */
  settle(calls: readonly LoggedCall[]): Promise<void> {
    const ids = new Set(calls.map(({ call }) => call.id));
    const { approvals, turn } = this.#parts;
    return approvals.settle((asked) => asked.turn === turn && ids.has(asked.toolCallId));
  }

  /**
   * Removes the questions that belong to no open call. An earlier process ended before it could
   * remove them.
   */
  settleAllBut(open: readonly LoggedCall[]): Promise<void> {
    const ids = new Set(open.map(({ call }) => call.id));
    const { approvals, turn } = this.#parts;
    return approvals.settle(
      (asked) => asked.turn !== undefined && !(asked.turn === turn && ids.has(asked.toolCallId)),
    );
  }
}
