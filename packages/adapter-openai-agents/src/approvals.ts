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

/** A call that is delivered twice runs once. */
const turns = new Turns();

/** The part of a run that knows what its user approved. */
type Decisions = Pick<RunContext<unknown>, 'isToolApproved' | 'getRejectionMessage'>;

interface Asked {
  approval: PendingApproval;
  /** As the model gave it; unknown where another process asked. */
  call?: ToolCall;
}

/** What a call has of its run. */
interface CarriedCall {
  run: Decisions | undefined;
  options: SessionBatchOptions;
}

export interface ApprovalsOptions {
  session: ToolSession;
  /** What the framework calls a tool of the session. */
  nameOf: (toolName: string) => string;
  by: string | undefined;
}

/**
 * Takes the framework's yes and no to the session. A yes goes to the one question that was shown
 * for its call; whether that is still the question, the session says.
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

  /** Takes over what waits already, e.g. from before a restart. */
  async load(): Promise<void> {
    for (const approval of await pendingCalls(this.#session)) {
      if (approval.decision === undefined) this.#asked.set(approval.toolCallId, { approval });
    }
  }

  /** Whether the framework is to ask about a call. */
  async mustAsk(call: ToolCall, run: Decisions): Promise<boolean> {
    // A restored run asks once more after its user has decided. A new question must not take the
    // place of the one that was shown.
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
      // A throw would end the run. `execute` goes through the same gates, and answers.
      return false;
    }
  }

  /**
   * Runs a call, with the yes that the framework has for it. What the yes is not for, since it was
   * used or something else is asked now, does not run, and is not asked again: a run that is
   * delivered twice would bring the same yes for it.
   */
  async execute(call: ToolCall, { run, options }: CarriedCall): Promise<SessionResult> {
    const { toolCallId, name, args } = call;
    // The framework asks about what is no object, whatever the tool.
    const isYes = isObject(args) && run !== undefined && this.#answer(name, toolCallId, run);
    if (isYes !== true) {
      this.#asked.delete(toolCallId);
      return this.#run(call, options);
    }
    // Of a yes for all calls, the framework does not say which one was shown.
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
    // A yes for all that is a grant already answered what was shown: what waits was asked since.
    const isShown = !isForAll || asked?.call !== undefined || !(await this.#hasGrant(call.name));
    if (asked !== undefined && isShown) {
      const isGranted =
        isForAll && (await this.#decide(asked, { approved: true, always: 'session' }));
      if (!isGranted) await this.#decide(asked, { approved: true });
    }
    if (!isForAll && !(await this.#isWaiting(call.toolCallId))) return usedUp(call);
    const answer = await this.#run(call, options);
    if (answer.approval === undefined) return answer;
    // Nobody is shown it here. It waits where it can be told from what the yes was for.
    if (isForAll && (await this.#hasGrant(call.name))) return answer;
    const reason = 'the approval was used already, or given for something else';
    const { approval } = answer;
    const isRefused = await this.#decide({ approval }, { approved: false, reason });
    return isRefused ? this.#run(call, options) : answer;
  }

  /** Takes each no to the session. The framework answers the model by itself, without the tool. */
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
      // The session answers the refusal, and the call waits no more.
      if (isRecorded && asked.call !== undefined) await this.#run(asked.call, {});
    }
  }

  /** Says whether the decision is there. Where it is not, the session refuses the call or asks again. */
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
