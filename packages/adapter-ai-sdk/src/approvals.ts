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

/** What a call has to be asked for: `answered` where the messages have the answer already. */
export type Question = PendingApproval | 'answered' | undefined;

/** Carries what `ai` asks and is answered to the session, which decides by it. */
export class Approvals {
  readonly #session: ToolSession;
  readonly #by: string | undefined;
  /** Refusals that the session knows of. */
  readonly #settled = new Set<string>();

  constructor(session: ToolSession, by: string | undefined) {
    this.#session = session;
    this.#by = by;
  }

  async question(call: ToolCall, { messages }: CallOptions): Promise<Question> {
    // It is not asked again, which would put another question instead of the one that was answered.
    if (isAnswered(call, messages)) return 'answered';
    try {
      const check = await this.#session.check(call);
      return check.kind === 'asks' ? check.approval : undefined;
    } catch {
      // `execute` says what is wrong, as the answer to the call.
      return undefined;
    }
  }

  /**
   * Runs a call with what the messages say of it.
   * @throws `ToolCallError` for a yes to a call that does not wait for one
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
    // The yes was for something else. What is asked now would be answered by the same message again.
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

  /** `ai` calls no tool that was refused, so that the session hears of it with the next call. */
  async #settleRefusals(messages: readonly ModelMessage[]): Promise<void> {
    for (const { approvalId, call, approved, reason } of answeredCalls(messages, 'all')) {
      if (approved || this.#settled.has(approvalId)) continue;
      this.#settled.add(approvalId);
      const waiting = await this.#waiting(call.toolCallId);
      if (waiting === undefined || waiting.decision !== undefined) continue;
      const said = { ...(reason !== undefined && { reason }), ...this.#decider() };
      // Another decided meanwhile, which is as good.
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
 * Says no to a call that waits, and has the session answer it: nothing of it is left waiting.
 * @throws as `ToolSession.decide`
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

/** Whether the last message has the yes on which `ai` runs the call. */
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
