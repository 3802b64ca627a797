import { randomUUID } from 'node:crypto';
import type { ToolCall } from '@ethosagent/types';
import type { RunContext } from '@openai/agents';
import type { CallDecision, PendingApproval, ToolSession } from './session-api.js';

/** The part of a run that knows what its user approved. */
type Decisions = Pick<RunContext<unknown>, 'isToolApproved' | 'getRejectionMessage'>;

interface Asked {
  approval: PendingApproval;
  /** As the model gave it; unknown where another process asked. */
  call?: ToolCall;
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
    for (const approval of await this.#session.pending()) {
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

  /** Takes a yes to the session, before the call goes there. */
  async carryYes({ toolCallId, name }: ToolCall, run: Decisions): Promise<void> {
    const asked = this.#asked.get(toolCallId);
    this.#asked.delete(toolCallId);
    if (asked === undefined || this.#answer(name, toolCallId, run) !== true) return;
    const isForAll = this.#answer(name, randomUUID(), run) === true;
    if (isForAll && (await this.#decide(asked, { approved: true, always: 'session' }))) return;
    await this.#decide(asked, { approved: true });
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
      if (isRecorded && asked.call !== undefined) await this.#session.execute([asked.call]);
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

  #answer(toolName: string, callId: string, run: Decisions): boolean | undefined {
    return run.isToolApproved({ toolName: this.#nameOf(toolName), callId });
  }
}
