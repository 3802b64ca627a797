import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import type { ApprovalBook } from './call-guard.js';
import { checkOffRecord } from './check-call.js';
import { withProblems } from './pending-problems.js';
import type { CallDecision, PendingApproval, UntrustedSource } from './session-api.js';
import type { SessionGrants } from './session-grants.js';
import type { WaitingCall } from './session-ledger.js';
import { personalityIdOf, type ToolSessionParts } from './session-parts.js';
import { invalidApproval, isSameDecision, settleDecision } from './settle-decision.js';

type Question = Pick<PendingApproval, 'toolCallId' | 'question'>;

/** The calls of a session that wait for somebody's decision, from the question to the answer. */
export class SessionApprovals {
  readonly #parts: ToolSessionParts;
  readonly #grants: SessionGrants;

  constructor(parts: ToolSessionParts, grants: SessionGrants) {
    this.#parts = parts;
    this.#grants = grants;
  }

  /** Those that wait. */
  async list(): Promise<PendingApproval[]> {
    const { ledger, tools } = this.#parts;
    await ledger.refresh();
    return withProblems(
      ledger.waiting.map(({ approval }) => approval),
      tools,
    );
  }

  /** @throws as `ToolSession.decide` */
  async decide({ toolCallId, question }: Question, decision: CallDecision): Promise<void> {
    const { ledger, tools } = this.#parts;
    const id = personalityIdOf(this.#parts);
    // A plain no needs none, so that it can be said where the personality is gone.
    const personality =
      decision.approved === false ? { id, name: '' } : await tools.personality(id);
    await ledger.refresh();
    const { approval } = this.#waitingFor(toolCallId, question);
    await this.#decide(approval, { ...decision }, personality);
  }

  /** @returns whether it waited */
  async withdraw({ toolCallId: call, question }: Question): Promise<boolean> {
    const { ledger } = this.#parts;
    await ledger.refresh();
    let wasThere = false;
    await ledger.append(() => {
      wasThere = ledger.waitingCall(call)?.approval.question === question;
      return wasThere ? [{ kind: 'taken', call, question }] : [];
    });
    return wasThere;
  }

  /** Of several that have the same yes, one goes on. @throws `SESSION_CHANGED` for the others */
  async take({ toolCallId: call, question }: Question): Promise<void> {
    const { ledger } = this.#parts;
    await ledger.append(() => {
      if (ledger.waitingCall(call)?.approval.question === question) {
        return [{ kind: 'taken', call, question }];
      }
      throw new EthosError(
        'SESSION_CHANGED',
        `${call} was taken up already, here or by another process`,
      );
    });
  }

  /** What the calls of a batch are asked about, written down in the ledger of the session. */
  book(
    personality: PersonalityConfig,
    {
      over,
      inputs,
      sources,
    }: {
      /** Calls that have their answer. */
      over: ReadonlySet<string>;
      inputs: ReadonlyMap<string, unknown>;
      /** What whoever is asked knows of. */
      sources: readonly UntrustedSource[];
    },
  ): ApprovalBook {
    const { ledger } = this.#parts;
    return {
      find: (toolCallId) => ledger.waitingCall(toolCallId),
      inputOf: (toolCallId) => inputs.get(toolCallId),
      isOver: (toolCallId) => over.has(toolCallId),
      ask: ({ input, ...approval }) =>
        ledger.append(() => [{ kind: 'asked', approval, input, sources: [...sources] }]),
      decide: (approval, decision) => this.#decide(approval, decision, personality),
      grant: (approval, decision) => this.#grants.add(approval, decision, { personality, sources }),
    };
  }

  /** @throws as `ToolSession.decide` */
  async #decide(
    approval: PendingApproval,
    said: CallDecision,
    personality: PersonalityConfig,
  ): Promise<void> {
    const { ledger, tools, identity, now, id: sessionId } = this.#parts;
    const { toolCallId: call, question } = approval;
    const { sources } = this.#waitingFor(call, question);
    const { decision, shown } = await settleDecision(approval, said, {
      personality,
      check: (changed) =>
        checkOffRecord(changed, {
          tools,
          sessionId,
          identity,
          personality,
          isTainted: ledger.isTainted,
          sources: ledger.sources,
          now,
        }),
    });
    // The same decision again is no second grant.
    let isMade = false;
    await ledger.append(() => {
      const made = this.#waitingFor(call, question).approval.decision;
      isMade = made !== undefined;
      if (made === undefined) return [{ kind: 'decided', call, question, ...decision }];
      if (isSameDecision(made, said)) return [];
      throw new EthosError('ALREADY_DECIDED', `it is decided on ${call} already`);
    });
    if (said.always !== undefined && !isMade) {
      await this.#grants.add(shown, said, { personality, sources });
    }
  }

  /** @throws `APPROVAL_INVALID` */
  #waitingFor(toolCallId: string, question: string): WaitingCall {
    const waiting = this.#parts.ledger.waitingCall(toolCallId);
    if (waiting === undefined) throw invalidApproval(`no call ${toolCallId} of the session waits`);
    if (waiting.approval.question === question) return waiting;
    throw invalidApproval(
      `${toolCallId} asks for something else by now; look at \`pending\` and decide again`,
    );
  }
}
