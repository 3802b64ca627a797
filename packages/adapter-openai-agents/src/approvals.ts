import { randomUUID } from 'node:crypto';
import {
  type CallDecision,
  type PendingApproval,
  pendingCalls,
  type SessionBatchOptions,
  type SessionResult,
  type ToolSession,
} from '@ethosagent/core';
import { Turns } from '@ethosagent/policy';
import type { ToolCall } from '@ethosagent/types';
import type { RunContext } from '@openai/agents';

/** Makes sure that a call runs once, even if it is delivered twice. */
const turns = new Turns();

/** The part of a run that knows the decisions of its user. */
type Decisions = Pick<RunContext<unknown>, 'isToolApproved' | 'getRejectionMessage'>;

interface Asked {
  approval: PendingApproval;
  /** The call as the model gave it; absent if another process asked. */
  call?: ToolCall;
}

/** The parts of a run that a call needs. */
interface CarriedCall {
  run: Decisions | undefined;
  options: SessionBatchOptions;
}

export interface ApprovalsOptions {
  session: ToolSession;
  /** The framework's name for a tool of the session. */
  nameOf: (toolName: string) => string;
  by: string | undefined;
}

/**
 * Passes the decisions of the framework to the session. An approval is for the one question that
 * was shown for its call. The session decides whether that is still the question.
 */
export class Approvals {
  readonly #session: ToolSession;
  readonly #nameOf: (toolName: string) => string;
  readonly #by: { by?: string };
  readonly #asked = new Map<string, Asked>();

  constructor({ session, nameOf, by }: ApprovalsOptions) {
    this.#session = session;
    this.#nameOf = nameOf;
    this.#by = by === undefined ? {} : { by };
  }

  /** Loads the calls that already wait, e.g. from before a restart. */
  async load(): Promise<void> {
    for (const approval of await pendingCalls(this.#session)) {
      if (approval.decision === undefined) this.#asked.set(approval.toolCallId, { approval });
    }
  }

  /** Whether the framework must ask about a call. */
  async mustAsk(call: ToolCall, run: Decisions): Promise<boolean> {
    // A restored run asks again after its user has decided. A new question must not replace the one
    // that was shown.
    if (this.#answer(call.name, call.toolCallId, run) !== undefined) return true;
    try {
      const check = await this.#session.check(call);
      if (check.kind === 'asks') {
        this.#asked.set(call.toolCallId, { approval: check.approval, call });
        return true;
      }
      this.#asked.delete(call.toolCallId);
      return false;
    } catch {
      // An error would end the run. `execute` goes through the same gates, and answers.
      return false;
    }
  }

  /**
   * Runs a call with the framework's approval for it. If the approval is not for this call, because
   * it was used or the question has changed, the call does not run. It is not asked again: a run
   * that is delivered twice would bring the same approval for the new question.
   */
  async execute(call: ToolCall, { run, options }: CarriedCall): Promise<SessionResult> {
    const { toolCallId, name, args } = call;
    // The framework asks about arguments that are not an object, whatever the tool is.
    const isYes = isObject(args) && run !== undefined && this.#answer(name, toolCallId, run);
    if (isYes !== true) {
      this.#asked.delete(toolCallId);
      return this.#run(call, options);
    }
    // For an approval of all calls, the framework does not say which call was shown.
    const isForAll = this.#answer(name, randomUUID(), run) === true;
    const key = JSON.stringify([this.#session.id, toolCallId]);
    return turns.run(key, () => this.#executeApproved(call, { isForAll, options }));
  }

  async #executeApproved(
    call: ToolCall,
    { isForAll, options }: { isForAll: boolean; options: SessionBatchOptions },
  ): Promise<SessionResult> {
    const asked = this.#asked.get(call.toolCallId);
    this.#asked.delete(call.toolCallId);
    // If an approval of all calls is already stored as a grant, it has answered the question that
    // was shown. Then the waiting question is a later one.
    const isShown = !isForAll || asked?.call !== undefined || !(await this.#hasGrant(call.name));
    if (asked !== undefined && isShown) {
      const isGranted =
        isForAll && (await this.#decide(asked, { approved: true, always: 'session' }));
      if (!isGranted) await this.#decide(asked, { approved: true });
    }
    if (!isForAll && !(await this.#isWaiting(call.toolCallId))) return usedUp(call);
    const answer = await this.#run(call, options);
    if (answer.approval === undefined) return answer;
    // This question is not shown here. It waits where it can be told apart from the approved one.
    if (isForAll && (await this.#hasGrant(call.name))) return answer;
    const reason = 'the approval was used already, or given for something else';
    const { approval } = answer;
    const isRefused = await this.#decide({ approval }, { approved: false, reason });
    return isRefused ? this.#run(call, options) : answer;
  }

  /**
   * Passes each refusal to the session. The framework itself answers the model, without the tool.
   */
  async carryNo(run: Decisions): Promise<void> {
    for (const [toolCallId, asked] of [...this.#asked]) {
      const { toolName } = asked.approval;
      if (this.#answer(toolName, toolCallId, run) !== false) continue;
      this.#asked.delete(toolCallId);
      const reason = run.getRejectionMessage(this.#nameOf(toolName), toolCallId);
      const isRecorded = await this.#decide(asked, {
        approved: false,
        ...(reason !== undefined && { reason }),
      });
      // The session answers the refused call, so that it no longer waits.
      if (isRecorded && asked.call !== undefined) await this.#run(asked.call, {});
    }
  }

  /**
   * Returns whether the decision is stored. If it is not, the session refuses the call or asks
   * again.
   */
  async #decide({ approval }: Asked, decision: CallDecision): Promise<boolean> {
    try {
      await this.#session.decide(approval, { ...decision, ...this.#by });
      return true;
    } catch {
      return false;
    }
  }

  async #run(call: ToolCall, options: SessionBatchOptions): Promise<SessionResult> {
    const [answer] = await this.#session.execute([call], options);
    if (answer === undefined) throw new Error('the session has no answer to the call');
    return answer;
  }

  async #hasGrant(name: string): Promise<boolean> {
    return (await this.#session.grants()).some(({ toolName }) => toolName === name);
  }

  async #isWaiting(callId: string): Promise<boolean> {
    return (await pendingCalls(this.#session)).some(({ toolCallId }) => toolCallId === callId);
  }

  #answer(toolName: string, callId: string, run: Decisions): boolean | undefined {
    return run.isToolApproved({ toolName: this.#nameOf(toolName), callId });
  }
}

function usedUp({ toolCallId, name }: ToolCall): SessionResult {
  const error = 'the approval was used already; where the result is missing, call again';
  return {
    toolCallId,
    name,
    result: { ok: false, code: 'not_available', error, cause: 'APPROVAL_INVALID' },
    text: `not_available: ${error}`,
    images: [],
    durationMs: 0,
  };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
