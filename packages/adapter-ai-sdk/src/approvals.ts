import {
  type PendingApproval,
  pendingCalls,
  type SessionResult,
  ToolCallError,
  type ToolSession,
} from '@ethosagent/core';
import { errorText } from '@ethosagent/policy';
import type { ToolCall } from '@ethosagent/types';
import type { ModelMessage } from 'ai';
import type { CallOptions } from './ai-types.js';
import { answeredCalls } from './approval-messages.js';
import { isPartOf } from './is-part-of.js';

/** The question about a call; `answered` if the messages already contain the answer. */
export type Question = PendingApproval | 'answered' | undefined;

/** Passes the questions and answers of `ai` to the session, which decides. */
export class Approvals {
  readonly #session: ToolSession;
  readonly #by: string | undefined;
  /** The refusals that the session already knows. */
  readonly #settled = new Set<string>();

  constructor(session: ToolSession, by: string | undefined) {
    this.#session = session;
    this.#by = by;
  }

  async question(call: ToolCall, { messages }: CallOptions): Promise<Question> {
    // Asking again would replace the question that was answered by a new one.
    if (isAnswered(call, messages)) return 'answered';
    try {
      const check = await this.#session.check(call);
      return check.kind === 'asks' ? check.approval : undefined;
    } catch {
      // `execute` reports the problem as the answer to the call.
      return undefined;
    }
  }

  /**
   * Runs a call with its answer from the messages.
   * @throws `ToolCallError` for an approval of a call that does not wait for one
   */
  async execute(
    call: ToolCall,
    { messages }: CallOptions,
    run: () => Promise<SessionResult[]>,
  ): Promise<SessionResult | undefined> {
    await this.#settleRefusals(messages);
    const isApproved = isAnswered(call, messages);
    if (isApproved) await this.#accept(call);
    const [result] = await run();
    // The approval was for another question. The new question is refused: otherwise the same
    // message would answer it as well.
    if (isApproved && result?.approval !== undefined) {
      await this.#session.decide(result.approval, {
        approved: false,
        reason: 'the approval was for another call',
      });
    }
    return result;
  }

  async #accept(call: ToolCall): Promise<void> {
    const { toolCallId, name, args } = call;
    const waiting = await this.#waiting(toolCallId);
    if (waiting?.toolName !== name || !(waiting.decision || isPartOf(args, waiting.args))) {
      throw refusal(
        call,
        'no such call waits for approval; it ran already, or was never asked for',
      );
    }
    if (waiting.decision !== undefined) return;
    try {
      await this.#session.decide(waiting, { approved: true, ...this.#decider() });
    } catch (error) {
      throw refusal(call, errorText(error));
    }
  }

  /**
   * Passes refusals to the session. `ai` does not call a tool whose call was refused, so the
   * session learns of the refusal with the next call.
   */
  async #settleRefusals(messages: readonly ModelMessage[]): Promise<void> {
    for (const { approvalId, call, approved, reason } of answeredCalls(messages, 'all')) {
      if (approved || this.#settled.has(approvalId)) continue;
      this.#settled.add(approvalId);
      const waiting = await this.#waiting(call.toolCallId);
      if (waiting === undefined || waiting.decision !== undefined) continue;
      const said = { ...(reason !== undefined && { reason }), ...this.#decider() };
      // Somebody else may have decided meanwhile. That is fine too.
      await refuse(this.#session, waiting, { call, said }).catch(() => {});
    }
  }

  async #waiting(toolCallId: string): Promise<PendingApproval | undefined> {
    const pending = await pendingCalls(this.#session);
    return pending.find((approval) => approval.toolCallId === toolCallId);
  }

  #decider(): { by?: string } {
    return this.#by === undefined ? {} : { by: this.#by };
  }
}

/**
 * Refuses a waiting call, and lets the session answer it, so that nothing of it is left waiting.
 * @throws the same errors as `ToolSession.decide`
 */
export async function refuse(
  session: ToolSession,
  waiting: PendingApproval,
  { call, said }: { call: ToolCall; said: { reason?: string; by?: string } },
): Promise<void> {
  await session.decide(waiting, { ...said, approved: false });
  const [result] = await session.execute([call]);
  if (result?.approval !== undefined) {
    await session.decide(result.approval, { ...said, approved: false });
  }
}

/** Whether the last message contains the approval with which `ai` runs the call. */
function isAnswered({ toolCallId }: ToolCall, messages: readonly ModelMessage[]): boolean {
  return answeredCalls(messages, 'last').some(
    ({ call, approved }) => approved && call.toolCallId === toolCallId,
  );
}

function refusal({ toolCallId }: ToolCall, why: string): ToolCallError {
  const error = `the call did not run: ${why}`;
  return new ToolCallError({
    toolCallId,
    result: { ok: false, code: 'not_available', error, cause: 'NOT_APPROVED' },
  });
}
