import { randomUUID } from 'node:crypto';
import { compileSourceTrust, errorText, type SourceTrust } from '@ethosagent/policy';
import { realPathOf } from '@ethosagent/process';
import type { AnyTool, PersonalityConfig, ToolCallResult } from '@ethosagent/types';
import type { ApprovalDecision, ApprovalRequest } from '../approval.js';
import { mayBeForeign } from '../results/untrusted/may-be-foreign.js';
import type { CallFacts, TurnHost } from '../turn-host.js';
import { type ApprovalBook, decisionOn } from './approval-book.js';
import { grantCovers } from './grants.js';
import { type AskHost, answerOfHost, asDecision, decisionOf, extraOf } from './host-answer.js';
import { isSameQuestion, questionOf, toolDigest } from './question.js';
import { reasonWithSources } from './reason-with-sources.js';
import type {
  CallDecision,
  PendingApproval,
  SessionGrant,
  UntrustedSource,
} from './session-api.js';
import type { UntrustedFiles } from './untrusted-files.js';
import { isTrusted, untrustedGate } from './untrusted-gate.js';

export interface CallGuardParts {
  personality: PersonalityConfig;
  /** The tool that has the name now. */
  tool: (name: string) => AnyTool | undefined;
  /** Whether the session had read untrusted content when the calls were issued. */
  isTainted: boolean;
  /** The known sources of that content, for whoever decides. */
  sources: readonly UntrustedSource[];
  approve: AskHost | undefined;
  book: ApprovalBook;
  /** The present grants. Called when a call needs approval. @throws as a store does */
  grants: () => Promise<readonly SessionGrant[]>;
  /**
   * The files that were changed by calls that could use untrusted content. Absent if nothing runs.
   */
  files?: UntrustedFiles;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** What must be known about a result before it is given to a model. */
export interface GuardedResult {
  /** Whether somebody else may have written it. Then the model reads it marked. */
  isMarked: boolean;
  /** Whether the personality does not trust it. Then the session has read untrusted content. */
  isUntrusted: boolean;
  /** The untrusted source, if the framework saw it. */
  from?: string;
}

/** Nobody reads it, unless two calls of a batch have one id. */
const TOO_LATE = 'a call of its id has its answer already; give each call an id of its own';
const MAY_HAVE_RUN =
  'an earlier attempt of this call has begun, and its end is not recorded, so it may have run';
const WAITS = { approved: false, reason: 'it waits for a decision', waits: true } as const;
/**
 * How often a person is asked again about one call, after an approval with arguments that can't
 * run.
 */
const MAX_ASKED = 3;

/** The protections of a session for the calls of one batch, whoever runs it. */
export class CallGuard {
  /** The calls that wait for a decision. */
  readonly waiting = new Map<string, PendingApproval>();
  /** The calls that were decided with other arguments while they waited. They must be run again. */
  readonly edited = new Set<string>();
  /** Why the approved arguments of a call can't run. The call still waits. */
  readonly problems = new Map<string, string>();
  /** The questions that are used up when a call runs, by its id. */
  readonly answered = new Map<string, string>();
  readonly #parts: CallGuardParts;
  readonly #tools = new Map<string, AnyTool>();
  readonly #trust: SourceTrust;

  /**
   * Protects the calls of one batch.
   *
   * @param parts the personality, what the session has read, and who is asked
   */
  constructor(parts: CallGuardParts) {
    this.#parts = parts;
    this.#trust = compileSourceTrust(parts.personality.safety?.untrusted?.trust, realPathOf);
  }

  /**
   * The hooks that a registry asks for each call of the batch.
   *
   * @returns the hooks, to be given to `executeParallel`
   */
  host(): Pick<TurnHost, 'watchSources'> &
    Required<Pick<TurnHost, 'isTainted' | 'approve' | 'gate'>> {
    const { isTainted, personality, files } = this.#parts;
    return {
      isTainted,
      ...(files !== undefined && {
        watchSources: ({ name, tool }) => ({
          trust: this.#trust,
          trustsTool: this.#trustsTool(name, tool),
          isWritten: (sources) => files.areWritten(sources),
          beforeWrite: (paths) => files.note(paths),
        }),
      }),
      approve: (request) => this.#approve(request),
      gate: ({ toolCallId, tool }) => {
        this.#tools.set(keyOfCall(toolCallId, tool.name), tool);
        return isTainted ? untrustedGate(tool, personality.safety?.untrusted) : undefined;
      },
    };
  }

  /**
   * Decides whether somebody else may have written a result, and whether it is trusted.
   *
   * @param answer a result of the registry
   * @param facts what the call touched; absent if the framework answered instead of the tool
   * @returns after it is known which files were written meanwhile. Never rejects
   */
  async judge(
    answer: ToolCallResult,
    facts: Pick<CallFacts, 'ran' | 'reads'> | undefined,
  ): Promise<GuardedResult> {
    const { toolCallId, name, result, untrusted: isKept = false } = answer;
    const { tool: find } = this.#parts;
    const tool = this.#tools.get(keyOfCall(toolCallId, name));
    const now = find(name);
    const isForeign = isKept || mayBeForeign(tool ?? now, result) || mayBeForeign(now, result);
    if (facts?.ran !== true || !isForeign) return { isMarked: false, isUntrusted: false };
    // The personality trusts the tool. It does not trust whoever wrote the text that the tool had
    // stored.
    const isTrustedTool = !isKept && this.#trustsTool(name, tool ?? now);
    const { reads } = facts;
    const isClean = isTrustedTool || (!isKept && (await this.#trustsReads(reads)));
    if (isClean) return { isMarked: true, isUntrusted: false };
    const source = reads?.sources.find((each) => each.kind === 'url' && !this.#trust.covers(each));
    return {
      isMarked: true,
      isUntrusted: true,
      ...(source?.kind === 'url' && { from: source.url }),
    };
  }

  #trustsTool(name: string, tool: AnyTool | undefined): boolean {
    const { personality, tool: find } = this.#parts;
    const isTool = (other: string) => find(other) !== undefined;
    return isTrusted(personality, name, { tool, isTool });
  }

  /** Whether the personality trusts all sources that a call read. */
  async #trustsReads(reads: CallFacts['reads']): Promise<boolean> {
    const { files } = this.#parts;
    if (reads?.isWhole !== true || reads.sources.length === 0 || files === undefined) return false;
    if (!reads.sources.every((source) => this.#trust.covers(source))) return false;
    try {
      // A write of untrusted text is recorded before it happens, so a file that was read is in the
      // list if it is untrusted.
      return !(await files.areWritten(reads.sources));
    } catch {
      return false;
    }
  }

  async #approve(request: ApprovalRequest): Promise<ApprovalDecision> {
    const { approve, book, grants, isTainted, now, personality, sources } = this.#parts;
    const { toolCallId, toolName, args, capabilities, settings } = request;
    const tool = this.#tools.get(keyOfCall(toolCallId, toolName)) ?? this.#parts.tool(toolName);
    const asks = questionOf(request, tool);
    const known = book.find(toolCallId);
    const isAsked = isSameQuestion(known?.approval.question, asks);
    const decided = decisionOn(known, asks);
    if (known !== undefined) this.answered.set(toolCallId, known.approval.question);
    if (decided !== undefined) {
      return { ...asDecision(decided), ...(known && { askedAt: known.approval.askedAt }) };
    }
    const asked = { request, tool, personality, sources };
    const grant = (await grants()).find((each) => grantCovers(each, asked));
    if (grant !== undefined) return { approved: true, grant: grant.id };
    const reason = reasonWithSources(request.reason, isTainted ? sources : []);
    const shown = {
      ...request,
      reason: book.mayHaveRun?.(toolCallId) === true ? `${reason}; ${MAY_HAVE_RUN}` : reason,
    };
    const said = await answerOfHost(approve, shown);
    // Somebody else may have withdrawn the call meanwhile, or decided.
    const present = book.find(toolCallId)?.approval;
    if (known !== undefined && present?.question !== known.approval.question) return false;
    // A refusal holds, also if another person gave it.
    if (present?.decision?.approved === false) return false;
    const wasOpen = known !== undefined && known.approval.decision === undefined;
    if (wasOpen && present?.decision?.args !== undefined && decisionOf(said)?.approved !== false) {
      // The first yes counts. It was to other arguments, so the call is run again with those.
      this.waiting.set(toolCallId, present);
      this.edited.add(toolCallId);
      return WAITS;
    }
    const extra = extraOf(said);
    if (said !== 'later' && extra === undefined) return said;
    if (request.signal.aborted) return false;
    if (book.isOver(toolCallId)) return { approved: false, reason: TOO_LATE };
    const approval: PendingApproval = {
      toolCallId,
      // Each question has an id of its own. So an old answer does not fit when the same call is
      // asked about again.
      question: `${asks}.${randomUUID()}`,
      toolName,
      args: args ?? null,
      input: book.inputOf(toolCallId) ?? null,
      ...(tool !== undefined && { tool: toolDigest(tool) }),
      personalityId: personality.id,
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
      // Nobody could decide on a question that is not recorded, so the call is refused.
      this.waiting.delete(toolCallId);
      throw error;
    }
    if (extra !== undefined) await this.#takeAnswers(plain, extra, shown);
    const problem = this.problems.get(toolCallId);
    return problem === undefined ? WAITS : { ...WAITS, reason: `${problem}; ${WAITS.reason}` };
  }

  /** Records an answer. If its arguments can't run, asks again with the reason. */
  async #takeAnswers(
    approval: PendingApproval,
    first: CallDecision,
    shown: ApprovalRequest,
  ): Promise<void> {
    const { approve, book } = this.#parts;
    const { toolCallId } = approval;
    let said: CallDecision | undefined = first;
    for (let asked = 1; said !== undefined; asked++) {
      try {
        await book.decide(approval, said);
        this.problems.delete(toolCallId);
        this.edited.add(toolCallId);
        return;
      } catch (error) {
        if (book.find(toolCallId)?.approval.decision !== undefined) {
          // Somebody else has already decided.
          this.edited.add(toolCallId);
          return;
        }
        const problem = `the person who approved it changed the arguments, and those do not fit (${errorText(error)})`;
        this.problems.set(toolCallId, problem);
        if (approve === undefined || asked >= MAX_ASKED || shown.signal.aborted) return;
        said = decisionOf(await answerOfHost(approve, { ...shown, problem }));
      }
    }
  }
}

/** Two calls may have the same id and different tools. */
function keyOfCall(toolCallId: string, name: string): string {
  return JSON.stringify([String(toolCallId), name]);
}
