import { isSameQuestion } from './question.js';
import type { CallDecision, PendingApproval } from './session-api.js';

/** What is known about a call that was asked about. */
export interface KnownApproval {
  approval: PendingApproval;
  /** The question that was answered, if the yes was to other arguments. */
  runs?: string | undefined;
}

/** Where approvals are recorded: in the journal of a loop, or in the ledger of a session. */
export interface ApprovalBook {
  /** The question about a call, with its answer if there is one. */
  find(toolCallId: string): KnownApproval | undefined;
  /** The arguments of a call as the model issued them. */
  inputOf(toolCallId: string): unknown;
  /** Whether the call has its answer, so that it is too late to ask. */
  isOver(toolCallId: string): boolean;
  /** Whether an earlier attempt of the call has begun, and its end is not recorded. */
  mayHaveRun?(toolCallId: string): boolean;
  /** Records that a call waits. Rejects if that fails; then the call does not run. */
  ask(approval: PendingApproval): Promise<void>;
  /**
   * Records an answer that came at once, for a call that `ask` has recorded.
   * @throws as `ToolSession.decide`
   */
  decide(approval: PendingApproval, decision: CallDecision): Promise<void>;
  /** Adds a grant for later calls. @throws `APPROVAL_INVALID` */
  grant(approval: PendingApproval, decision: CallDecision): Promise<void>;
}

/**
 * A book that records nothing, for a call that can't be decided later. @param input the arguments
 * as the model issued them
 */
export function emptyBook(input: unknown): ApprovalBook {
  return {
    find: () => undefined,
    inputOf: () => input,
    isOver: () => false,
    ask: async () => {},
    decide: async () => {},
    grant: async () => {},
  };
}

/**
 * The decision on a question. An approval with other arguments does not approve the original ones.
 */
export function decisionOn(
  known: KnownApproval | undefined,
  asks: string,
): CallDecision | undefined {
  if (known === undefined) return undefined;
  const { approval, runs } = known;
  const { decision, question } = approval;
  const answers = decision?.args === undefined ? question : runs;
  return isSameQuestion(answers, asks) ? decision : undefined;
}
