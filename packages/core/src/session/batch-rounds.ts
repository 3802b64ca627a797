import { callListener } from '@ethosagent/policy';
import type { PersonalityConfig, ToolCall } from '@ethosagent/types';
import type { CallFacts, TurnHost } from '../turn-host.js';
import { CallGuard } from './call-guard.js';
import { type CheckedCall, checkCall } from './check-call.js';
import type { AskHost } from './host-answer.js';
import { InnerCalls } from './inner-calls.js';
import { joinHosts } from './join-hosts.js';
import { keepAnswers } from './keep-answers.js';
import { callToRun, editsOf, inputsOf, placeCall } from './placed-call.js';
import { partsOf, type RunCalls, refusedResult } from './session-answers.js';
import type { SessionBatchOptions, SessionResult } from './session-api.js';
import type { SessionApprovals } from './session-approvals.js';
import type { SessionGrants } from './session-grants.js';
import { personalityIdOf, type ToolSessionParts } from './session-parts.js';
import { SessionSpending } from './session-spending.js';
import type { UntrustedFiles } from './untrusted-files.js';

/**
 * How many rounds one batch may have. In each round, an approval may change the arguments of a
 * call.
 */
const MAX_ROUNDS = 4;

export interface SessionRunOptions extends SessionBatchOptions {
  /** The host that takes part in the decisions, beside the session. */
  host?: TurnHost;
  personality?: string;
  /**
   * Present when only the reader gets the results. Filled with the places of results that hold
   * untrusted text.
   */
  quarantined?: Set<number>;
}

/**
 * The batches of a session. Each call is run again until no approval changes its arguments any
 * more.
 */
export class BatchRounds {
  readonly #parts: ToolSessionParts;
  readonly #grants: SessionGrants;
  readonly #approvals: SessionApprovals;
  readonly #spending: SessionSpending;

  constructor(parts: ToolSessionParts, grants: SessionGrants, approvals: SessionApprovals) {
    this.#parts = parts;
    this.#grants = grants;
    this.#approvals = approvals;
    this.#spending = new SessionSpending(parts.limits, parts.ledger);
  }

  /** @throws `CONFIG_INVALID` for the personality, `TURN_LIMIT`, and as a store does */
  async run(
    calls: readonly ToolCall[],
    options: SessionRunOptions,
    runCalls: RunCalls,
  ): Promise<SessionResult[]> {
    if (calls.length === 0) return [];
    const { tools, ledger, approve, files } = this.#parts;
    const personality = await tools.personality(
      options.personality ?? personalityIdOf(this.#parts),
    );
    await ledger.refresh();
    await this.#spending.addCalls(calls.length);
    let round = calls.map((call, index) => placeCall(call, index, ledger));
    // What the calls of this batch read only counts from the next batch on.
    const { isTainted, sources } = ledger;
    const results = new Map<number, SessionResult>();
    for (let count = 1; round.length > 0; count++) {
      const over = new Set<string>();
      const guard = this.#guard(personality, {
        book: this.#approvals.book(personality, { over, sources, inputs: inputsOf(round) }),
        approve: options.host?.approve ?? approve,
        isTainted,
        sources,
        files,
      });
      const facts = new Map<string, CallFacts>();
      const begun = new Set<string>();
      const host = this.#host(guard, options, { facts, over, begun, edits: editsOf(round) });
      const { of: innerCalls } = this.#innerCalls(personality, options, runCalls);
      const answers = await runCalls(round.map(callToRun), { ...host, calls: innerCalls });
      await this.#spending.addCostOf(answers.map(({ result }) => result));
      const kept = await keepAnswers({
        round,
        answers,
        facts,
        guard,
        ledger,
        approvals: this.#approvals,
        images: this.#parts.images,
        signal: options.abortSignal,
        isDryRun: options.dryRun === true,
        quarantined: options.quarantined,
      });
      // If that can't be recorded, the calls stay in the list of those that may have run.
      await this.#approvals.end(begun).catch(() => {});
      for (const [index, result] of kept) results.set(index, result);
      const again = round.filter(({ call }) => guard.edited.has(partsOf(call).toolCallId));
      round =
        count < MAX_ROUNDS ? again.map(({ call, index }) => placeCall(call, index, ledger)) : [];
    }
    return calls.map((call, index) => results.get(index) ?? refusedResult(call, undefined));
  }

  /** Runs the calls that tools of a batch make, each as a batch of its own. */
  #innerCalls(
    personality: PersonalityConfig,
    { host, quarantined, onProgress }: SessionRunOptions,
    runCalls: RunCalls,
  ): InnerCalls {
    const { tools, ledger, approve, files, now } = this.#parts;
    const { generation } = ledger;
    return new InnerCalls({
      // Under one that is no longer valid, the batch of the call is refused, and recorded.
      personality: () => tools.personality(personality.id).catch(() => personality),
      tool: (name) => tools.tool(name),
      known: () => ledger,
      approve: host?.approve ?? approve,
      grants: () => this.#grants.list(personality),
      grant: (approval, decision, sources) =>
        this.#grants.add(approval, decision, { personality, sources, generation }),
      files,
      now,
      begin: async () => {
        await ledger.refresh();
        await this.#spending.addCalls(1);
      },
      execute: ({ toolCallId, name, args, parent }, own, abortSignal) => {
        const inner: TurnHost = {
          ...own,
          ...(quarantined !== undefined && { isTainted: true }),
          onProgress: (event) => {
            const { audience } = event;
            const isShown = audience === 'user' || audience === 'dashboard';
            if (isShown) onProgress?.(event, parent.toolCallId);
          },
        };
        return runCalls([{ toolCallId, name, args }], joinHosts(host, inner), { abortSignal });
      },
      end: async (_, { result, source }) => {
        await this.#spending.addCostOf([result]);
        // What only the reader gets, the session has not read.
        if (source !== undefined && quarantined === undefined) await ledger.addSources([source]);
      },
    });
  }

  /** What would happen to a call. Nothing runs. */
  async check(call: ToolCall): Promise<CheckedCall> {
    const { tools, id: sessionId, identity, ledger } = this.#parts;
    const personality = await tools.personality(personalityIdOf(this.#parts));
    await ledger.refresh();
    const { isTainted, sources } = ledger;
    const placed = placeCall(call, 0, ledger);
    const guard = this.#guard(personality, {
      book: this.#approvals.book(personality, {
        over: new Set(),
        sources,
        inputs: inputsOf([placed]),
      }),
      approve: undefined,
      isTainted,
      sources,
    });
    return checkCall(callToRun(placed), guard, { tools, identity, personality, sessionId });
  }

  #guard(
    personality: PersonalityConfig,
    of: {
      book: ReturnType<SessionApprovals['book']>;
      approve: AskHost | undefined;
      isTainted: boolean;
      sources: ToolSessionParts['ledger']['sources'];
      files?: UntrustedFiles;
    },
  ): CallGuard {
    const { tools, now } = this.#parts;
    return new CallGuard({
      ...of,
      personality,
      tool: (name) => tools.tool(name),
      grants: () => this.#grants.list(personality),
      now,
    });
  }

  #host(
    guard: CallGuard,
    { host, onProgress, onResult, quarantined }: SessionRunOptions,
    {
      facts,
      over,
      begun,
      edits,
    }: {
      facts: Map<string, CallFacts>;
      over: Set<string>;
      /** Filled with the questions whose answer let a call begin. */
      begun: Set<string>;
      edits: ReadonlyMap<string, string>;
    },
  ): TurnHost {
    const { ledger } = this.#parts;
    return joinHosts(host, {
      ...guard.host(),
      // The session will not read what these calls read. But what they keep in stores may be
      // untrusted.
      ...(quarantined !== undefined && { isTainted: true }),
      beforeRun: async ({ toolCallId, args }: ToolCall) => {
        const answered = guard.answered.get(toolCallId);
        const waits = ledger.waitingCall(toolCallId)?.approval.question;
        const question = answered ?? edits.get(toolCallId) ?? waits;
        if (question === undefined) return;
        await this.#approvals.take({ toolCallId, question, args });
        begun.add(question);
      },
      onProgress: (event, toolCallId) => {
        const { audience } = event;
        if (audience === 'user' || audience === 'dashboard') onProgress?.(event, toolCallId);
      },
      onResult: (result, fact) => {
        over.add(result.toolCallId);
        if (fact?.ran === true) {
          const isSecond = facts.has(result.toolCallId);
          facts.set(result.toolCallId, isSecond ? withoutReads(fact) : fact);
        }
        callListener(() => onResult?.(result));
      },
    });
  }
}

/** Of several calls with one id, it is known that one ran, but not what it read. */
function withoutReads({ reads: _, ...fact }: CallFacts): CallFacts {
  return fact;
}
