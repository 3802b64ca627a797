import { randomUUID } from 'node:crypto';
import { errorText } from '@ethosagent/policy';
import type { AnyTool, PersonalityConfig, ToolCallResult } from '@ethosagent/types';
import type { ApprovalDecision, ApprovalRequest } from '../approval.js';
import { mayBeForeign } from '../results/untrusted/may-be-foreign.js';
import type { CallFacts, TurnHost } from '../turn-host.js';
import { grantCovers } from './grants.js';
import { isSameQuestion, questionOf } from './question.js';
import type {
  CallDecision,
  PendingApproval,
  SessionGrant,
  UntrustedSource,
} from './session-api.js';
import { isTrusted, untrustedGate } from './untrusted-gate.js';

/** What is known of a call that was asked about. */
export interface KnownApproval {
  approval: PendingApproval;
  /** The question that was answered, where a yes was to other arguments. */
  runs?: string | undefined;
}

/** Where approvals are written down: the journal of a loop, or the ledger of a session. */
export interface ApprovalBook {
  find(toolCallId: string): KnownApproval | undefined;
  /** Whether the call has its answer, so that it is too late to ask. */
  isOver(toolCallId: string): boolean;
  ask(approval: PendingApproval): Promise<void>;
  /**
   * Writes down what was said at once to a call that `ask` has written down.
   * @throws as `ToolSession.decide`
   */
  decide(approval: PendingApproval, decision: CallDecision): Promise<void>;
  /** Grants a yes to later calls. @throws `APPROVAL_INVALID` */
  grant(approval: PendingApproval, decision: CallDecision): Promise<void>;
}

/** What a host says to a call that needs approval. */
export type AskHost = (
  request: ApprovalRequest,
) => ApprovalDecision | 'later' | Promise<ApprovalDecision | 'later'>;

export interface CallGuardParts {
  personality: PersonalityConfig;
  tool: (name: string) => AnyTool | undefined;
  /** The session had read untrusted content when the calls were issued. */
  isTainted: boolean;
  /** What of it is known, for whoever is asked. */
  sources: readonly UntrustedSource[];
  approve: AskHost | undefined;
  book: ApprovalBook;
  /** The grants that hold. Asked for when a call needs approval. @throws as a store does */
  grants: () => Promise<readonly SessionGrant[]>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** What whoever answers calls has to know of one. */
export interface GuardedResult {
  /** Somebody else may have written it: the model reads it marked. */
  isMarked: boolean;
  /** The personality does not trust it: the session has read untrusted content. */
  isUntrusted: boolean;
}

const WAITS = { approved: false, reason: 'it waits for a decision', waits: true } as const;
const MAX_SOURCES_SHOWN = 3;

/** The protections of a session for the calls of one batch, whoever runs it. */
export class CallGuard {
  /** Calls that wait for a decision. */
  readonly waiting = new Map<string, PendingApproval>();
  /** Calls that somebody approved with other arguments while they ran: they are to run again. */
  readonly edited = new Set<string>();
  readonly #parts: CallGuardParts;
  readonly #tools = new Map<string, AnyTool>();

  constructor(parts: CallGuardParts) {
    this.#parts = parts;
  }

  /** What the registry asks. */
  host(): Required<Pick<TurnHost, 'isTainted' | 'approve' | 'gate'>> {
    const { isTainted, personality } = this.#parts;
    return {
      isTainted,
      approve: (request) => this.#approve(request),
      gate: ({ toolCallId, tool }) => {
        this.#tools.set(toolCallId, tool);
        return isTainted ? untrustedGate(tool, personality.safety?.untrusted) : undefined;
      },
    };
  }

  /** @param facts absent where the framework answered in place of the tool */
  judge(answer: ToolCallResult, facts: Pick<CallFacts, 'ran'> | undefined): GuardedResult {
    const { toolCallId, name, result, untrusted: isKept = false } = answer;
    const { personality, tool: find } = this.#parts;
    const tool = this.#tools.get(toolCallId);
    const now = find(name);
    const isForeign = isKept || mayBeForeign(tool ?? now, result) || mayBeForeign(now, result);
    const isMarked = facts?.ran === true && isForeign;
    const isTool = (other: string) => find(other) !== undefined;
    return {
      isMarked,
      // The personality trusts the tool, not whoever wrote what it kept.
      isUntrusted:
        isMarked && (isKept || !isTrusted(personality, name, { tool: tool ?? now, isTool })),
    };
  }

  async #approve(request: ApprovalRequest): Promise<ApprovalDecision> {
    const { approve, book, grants, now, personality, sources } = this.#parts;
    const { toolCallId, toolName, args, capabilities, settings } = request;
    const tool = this.#tools.get(toolCallId) ?? this.#parts.tool(toolName);
    const asks = questionOf(request, tool);
    const known = book.find(toolCallId);
    const isAsked = isSameQuestion(known?.approval.question, asks);
    const isAnswered = isSameQuestion(known?.runs ?? known?.approval.question, asks);
    const decided = isAnswered ? known?.approval.decision : undefined;
    if (decided !== undefined) return asDecision(decided);
    const asked = { request, tool, personality, sources };
    const grant = (await grants()).find((each) => grantCovers(each, asked));
    if (grant !== undefined) return { approved: true, grant: grant.id };
    const shown = { ...request, reason: this.#withSources(request.reason) };
    const said = approve === undefined ? 'later' : await approve(shown);
    // Somebody may have decided meanwhile: a no keeps it from running, whoever says it.
    if (book.find(toolCallId)?.approval.decision?.approved === false) return false;
    const extra = extraOf(said);
    if (said !== 'later' && extra === undefined) return said;
    // Too late to ask: the call has its answer.
    if (request.signal.aborted || book.isOver(toolCallId)) return false;
    const approval: PendingApproval = {
      toolCallId,
      // Each asking has an answer of its own: an old one does not fit when the call comes again.
      question: `${asks}.${randomUUID()}`,
      toolName,
      args: args ?? null,
      capabilities,
      reason: shown.reason,
      ...(settings !== undefined && { settings }),
      askedAt: now(),
    };
    const before = isAsked ? known?.approval : undefined;
    const waits = before?.decision === undefined ? before : undefined;
    const plain: PendingApproval = waits ?? JSON.parse(JSON.stringify(approval));
    if (extra !== undefined && extra.args === undefined) {
      await book.grant(plain, extra);
      return asDecision(extra);
    }
    this.waiting.set(toolCallId, plain);
    try {
      if (waits === undefined) await book.ask(plain);
    } catch (error) {
      // Nobody could decide on what is not on record: it is refused.
      this.waiting.delete(toolCallId);
      throw error;
    }
    if (extra === undefined) return WAITS;
    try {
      await book.decide(plain, extra);
    } catch (error) {
      const why = `the arguments that it was approved with can not run (${errorText(error)})`;
      return { ...WAITS, reason: `${why}; it waits for a decision` };
    }
    this.edited.add(toolCallId);
    return WAITS;
  }

  #withSources(reason: string): string {
    const { isTainted, sources } = this.#parts;
    if (!isTainted || sources.length === 0) return reason;
    const shown = sources
      .slice(0, MAX_SOURCES_SHOWN)
      .map(({ source, tool }) => (source === tool ? tool : `${source} (${tool})`));
    const more = sources.length > shown.length ? ` and ${sources.length - shown.length} more` : '';
    return `${reason}; the untrusted content is from ${shown.join(', ')}${more}`;
  }
}

function asDecision({ approved, reason, args, by }: CallDecision): ApprovalDecision {
  return {
    approved,
    ...(reason !== undefined && { reason }),
    ...(by !== undefined && { by }),
    ...(args !== undefined && { edited: true }),
  };
}

/** A yes with other arguments, or to more than this call. */
function extraOf(said: ApprovalDecision | 'later'): CallDecision | undefined {
  if (typeof said !== 'object' || said === null || said.approved !== true) return undefined;
  return said.args !== undefined || said.always !== undefined ? { ...said } : undefined;
}
