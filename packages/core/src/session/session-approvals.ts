import { canonicalJson } from '@ethosagent/policy';
import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import type { ApprovalBook } from './approval-book.js';
import { checkOffRecord } from './check-call.js';
import { withProblems } from './pending-problems.js';
import type {
  CallDecision,
  PendingApproval,
  UnfinishedCall,
  UntrustedSource,
} from './session-api.js';
import type { SessionGrants } from './session-grants.js';
import type { WaitingCall } from './session-ledger.js';
import type { ToolSessionParts } from './session-parts.js';
import { invalidApproval, isSameDecision, settleDecision } from './settle-decision.js';

/** Identifies a waiting question. */
export type QuestionRef = Pick<PendingApproval, 'toolCallId' | 'question'>;

export type SessionApprovalsParts = Pick<
  ToolSessionParts,
  'id' | 'tools' | 'identity' | 'ledger' | 'now'
>;

/** The facts about a batch of calls that its questions need. */
export interface AskingBatch {
  /** The calls that have their answer. */
  over: Pick<ReadonlySet<string>, 'has'>;
  /** The arguments that the model gave, by the id of the call. */
  inputs: Pick<ReadonlyMap<string, unknown>, 'get'>;
  /** The sources that the person who decides is shown. */
  sources: readonly UntrustedSource[];
  /** The agent's turn that made the calls; absent for calls of the session. */
  turn?: number;
}

/**
 * The calls of a session, and of an agent's turns in it, that wait for a decision, from the
 * question to the answer. They are stored only in the session's ledger.
 */
export class SessionApprovals {
  readonly #parts: SessionApprovalsParts;
  readonly #grants: SessionGrants;

  /**
   * Keeps what waits in one session.
   *
   * @param parts the ledger and the tools of the session
   * @param grants where a yes to later calls is kept
   */
  constructor(parts: SessionApprovalsParts, grants: SessionGrants) {
    this.#parts = parts;
    this.#grants = grants;
  }

  /**
   * The calls that wait, with the reason for those that could not run now.
   *
   * @returns copies, the oldest first
   * @throws as `SessionLedger.refresh`
   */
  async list(): Promise<PendingApproval[]> {
    const { ledger, tools } = this.#parts;
    await ledger.refresh();
    return withProblems(
      ledger.waiting.map(({ approval }) => approval),
      tools,
    );
  }

  /**
   * The calls of the session that have begun, and whose end is not recorded.
   *
   * @returns copies, the oldest first
   * @throws as `SessionLedger.refresh`
   */
  async unfinished(): Promise<UnfinishedCall[]> {
    const { ledger } = this.#parts;
    await ledger.refresh();
    return structuredClone(ledger.unfinished);
  }

  /**
   * Records a decision on a waiting call.
   *
   * @param asked the call and its question
   * @param decision yes, with other arguments or a grant if wanted, or no
   * @param id of the personality under which it is decided
   * @throws as `ToolSession.decide`
   */
  async decide(asked: QuestionRef, decision: CallDecision, id: string | undefined): Promise<void> {
    const { ledger, tools } = this.#parts;
    assertQuestion(asked);
    const said = { ...decision };
    // A plain refusal needs no personality, so it is possible even when the personality no longer
    // exists.
    const personality =
      said.approved === false ? { id: id ?? '', name: '' } : await tools.personality(id);
    await ledger.refresh();
    await this.#decide(asked, said, personality);
  }

  /**
   * Withdraws a waiting call, or removes one from the unfinished calls.
   *
   * @param asked the call and its question
   * @returns whether it was there
   * @throws `APPROVAL_INVALID` for what is no waiting call
   * @throws as `SessionLedger.append`
   */
  async withdraw(asked: QuestionRef): Promise<boolean> {
    const { ledger } = this.#parts;
    assertQuestion(asked);
    const { toolCallId: call, question } = asked;
    await ledger.refresh();
    let wasThere = false;
    await ledger.append(() => {
      const known = ledger.question(question)?.approval ?? unfinishedCall(ledger, question);
      wasThere = known?.toolCallId === call;
      return wasThere ? [{ kind: 'withdrawn', call, question }] : [];
    });
    return wasThere;
  }

  /**
   * Uses an approval. Of several callers with the same approval, only one may continue. A call of
   * the session is unfinished from then on, until `end`.
   *
   * @param ref the call and its question, and the arguments with which it is about to run
   * @throws `SESSION_CHANGED` for the others; `APPROVAL_INVALID` if somebody has refused the call,
   * or approved other arguments
   */
  async take({ toolCallId: call, question, args }: QuestionRef & { args: unknown }): Promise<void> {
    const { ledger, now } = this.#parts;
    await ledger.append(() => {
      const waiting = ledger.question(question);
      if (waiting === undefined) {
        throw new EthosError(
          'SESSION_CHANGED',
          `${call} already runs or ran, here or in another process, so it was not started again; read its result in the session`,
        );
      }
      const { decision } = waiting.approval;
      if (decision?.approved === false) throw invalidApproval(`${call} was refused meanwhile`);
      if (decision?.args !== undefined && canonicalJson(decision.args) !== canonicalJson(args)) {
        throw invalidApproval(`${call} was approved with other arguments meanwhile`);
      }
      // In a turn, the agent's own records tell what has begun.
      const begun = waiting.approval.turn === undefined ? { begunAt: now() } : {};
      return [{ kind: 'taken', call, question, ...begun }];
    });
  }

  /**
   * Records that calls of the session have their results. Writes nothing for others.
   *
   * @param questions that `take` got
   * @throws as `SessionLedger.append`
   */
  async end(questions: ReadonlySet<string>): Promise<void> {
    if (questions.size === 0) return;
    const { ledger } = this.#parts;
    await ledger.append(() =>
      ledger.unfinished
        .filter(({ question }) => questions.has(question))
        .map(({ toolCallId: call, question }) => ({ kind: 'ended', call, question })),
    );
  }

  /**
   * Removes the calls that have their answers. Writes nothing if there are none.
   *
   * @param isOver whether a call has its answer
   * @throws as `SessionLedger.append`
   */
  async settle(isOver: (approval: PendingApproval) => boolean): Promise<void> {
    const { ledger } = this.#parts;
    const over = () => ledger.waiting.map(({ approval }) => approval).filter(isOver);
    if (over().length === 0) return;
    await ledger.append(() =>
      over().map(({ toolCallId: call, question }) => ({ kind: 'taken', call, question })),
    );
  }

  /**
   * Records the questions about calls of a batch in the ledger of the session.
   *
   * @param personality under which the calls run
   * @param batch the arguments, the calls that have ended, the known sources, and the turn
   * @returns the book, for a `CallGuard`
   */
  book(personality: PersonalityConfig, { over, inputs, sources, turn }: AskingBatch): ApprovalBook {
    const { ledger } = this.#parts;
    const place = turn === undefined ? {} : { turn };
    const { generation } = ledger;
    return {
      find: (toolCallId) =>
        turn === undefined ? ledger.waitingCall(toolCallId) : ledger.turnCall(turn, toolCallId),
      inputOf: (toolCallId) => inputs.get(toolCallId),
      isOver: (toolCallId) => over.has(toolCallId),
      mayHaveRun: (toolCallId) =>
        turn === undefined && ledger.unfinished.some((call) => call.toolCallId === toolCallId),
      ask: ({ input, ...asked }) => {
        const approval = { ...asked, ...place };
        return ledger.append(() => [{ kind: 'asked', approval, input, sources: [...sources] }]);
      },
      decide: (approval, decision) => this.#decide(approval, decision, personality),
      grant: (approval, decision) => {
        const isOpen = () => {
          const waiting = ledger.question(approval.question)?.approval;
          return waiting !== undefined && waiting.decision?.approved !== false;
        };
        const wasOpen = isOpen();
        return this.#grants.add(approval, decision, {
          personality,
          sources,
          generation,
          assertOpen: () => {
            if (!wasOpen || isOpen()) return;
            throw invalidApproval(`${approval.toolCallId} was refused or withdrawn meanwhile`);
          },
        });
      },
    };
  }

  /** @throws as `ToolSession.decide` */
  async #decide(
    asked: QuestionRef,
    said: CallDecision,
    personality: PersonalityConfig,
  ): Promise<void> {
    const { ledger, tools, identity, now, id: sessionId } = this.#parts;
    const { toolCallId: call, question } = asked;
    const { approval, sources } = this.#waitingFor(asked);
    const isOfTurn = approval.turn !== undefined;
    const { decision, shown } = await settleDecision(approval, said, {
      personality,
      check: (changed) =>
        checkOffRecord(changed, {
          tools,
          sessionId,
          identity,
          personality,
          // In a turn, the question lists what had been read when the calls were issued. What was
          // read later had no influence on them.
          isTainted: isOfTurn ? sources.length > 0 : ledger.isTainted,
          sources: isOfTurn ? sources : ledger.sources,
          now,
        }),
    });
    // The same decision a second time must not add a second grant.
    let isMade = false;
    await ledger.append(() => {
      const made = this.#waitingFor(asked).approval.decision;
      isMade = made !== undefined;
      if (made === undefined) return [{ kind: 'decided', call, question, ...decision }];
      if (isSameDecision(made, said)) return [];
      throw new EthosError(
        'ALREADY_DECIDED',
        `${call} is decided already, and that decision holds`,
      );
    });
    if (said.always !== undefined && !isMade) {
      const { generation } = ledger;
      await this.#grants.add(shown, said, { personality, sources, generation });
    }
  }

  /** @throws `APPROVAL_INVALID` */
  #waitingFor({ toolCallId, question }: QuestionRef): WaitingCall {
    const { ledger } = this.#parts;
    const waiting = ledger.question(question);
    if (waiting?.approval.toolCallId === toolCallId) return waiting;
    if (!ledger.waiting.some(({ approval }) => approval.toolCallId === toolCallId)) {
      throw invalidApproval(
        `no call ${toolCallId} of the session waits: it was decided, it ended, or the id is wrong; list what waits with pending()`,
      );
    }
    throw invalidApproval(
      `${toolCallId} asks for something else now; look at \`pending\` and decide again`,
    );
  }
}

function unfinishedCall(
  { unfinished }: ToolSessionParts['ledger'],
  question: string,
): UnfinishedCall | undefined {
  return unfinished.find((call) => call.question === question);
}

/** Plain JavaScript may pass anything, such as the id alone. @throws `APPROVAL_INVALID` */
function assertQuestion(asked: unknown): void {
  const { toolCallId, question }: Partial<QuestionRef> = Object(asked);
  if (typeof toolCallId === 'string' && typeof question === 'string') return;
  throw invalidApproval('it has no toolCallId and question; give an entry of pending()');
}
