import {
  type CallDecision,
  isLedgerSession,
  isTaskJournal,
  type QuestionRef,
  type SessionGrant,
  SessionLedgers,
  sessionRef,
} from '@ethosagent/core';
import { isSameOwner } from '@ethosagent/policy';
import { EthosError, type SessionRef } from '@ethosagent/types';
import type { AgentEvent, AgentLoopOptions, ResumeInput, TurnInput } from './api.js';
import { assertInput, type Begin, beginTurn, resumeTurn, unfinished } from './begin-turn.js';
import { type ContextPlan, contextPlan } from './context/context-plan.js';
import { EventQueue } from './event-queue.js';
import { imagePlan } from './images.js';
import { Journal, type JournalClaim, readLog } from './journal/journal.js';
import { KnownLogs } from './journal/known-logs.js';
import { LoopApprovals } from './loop-approvals.js';
import { type RetryPlan, retryPlan, type TurnLimits, turnLimits } from './options.js';
import { leave, type RunningParts, type RunningTurn, readTurn } from './running-turn.js';
import { type AgentPlace, SubAgents } from './sub-agents.js';
import { type ToolSearchPlan, toolSearchPlan } from './tool-search/tool-search-plan.js';
import { Turn } from './turn.js';
import { withGrace } from './with-grace.js';

/** Runs the turns of one agent, which is the one at the top or a sub-agent. */
export class TurnRunner {
  readonly options: AgentLoopOptions;
  readonly #limits: TurnLimits;
  readonly #retries: RetryPlan;
  readonly #context: ContextPlan | undefined;
  readonly #search: ToolSearchPlan | undefined;
  readonly #now: () => number;
  readonly #subAgents: SubAgents;
  readonly #ledgers: SessionLedgers;
  readonly #place: AgentPlace | undefined;
  readonly #running = new Map<string, RunningTurn>();
  readonly #logs = new KnownLogs();
  #isClosed = false;

  /** @throws `CONFIG_INVALID` for an invalid limit */
  constructor(options: AgentLoopOptions, place?: AgentPlace) {
    this.options = options;
    this.#place = place;
    this.#ledgers = SessionLedgers.of(options.sessions);
    this.#limits = turnLimits(options.limits, options.prices);
    this.#retries = retryPlan(options.retries);
    imagePlan(options);
    this.#context = contextPlan(options);
    this.#search = toolSearchPlan(options, this.#context);
    this.#now = options.now ?? Date.now;
    this.#subAgents = new SubAgents(
      options,
      (child, below, input) => new TurnRunner(child, below).run(input),
      {
        limits: this.#limits,
        place,
        retries: this.#retries,
        files: this.#ledgers.files,
      },
    );
  }

  run(input: TurnInput): AsyncIterable<AgentEvent> {
    return readTurn((parts) => this.#events(input, beginTurn(input), parts));
  }

  resume(input: ResumeInput): AsyncIterable<AgentEvent> {
    return readTurn((parts) => this.#events(input, resumeTurn, parts));
  }

  isRunning(sessionId: string): boolean {
    return this.#running.has(sessionId);
  }

  /**
   * The journal of the running turn. Without one, it is read from the store, without the history.
   */
  async journal(sessionId: string, claim?: JournalClaim): Promise<Journal> {
    const { journal } = this.#running.get(sessionId) ?? {};
    if (journal !== undefined) return journal;
    const { tools, personality = tools.personalityId, identity } = this.options;
    // Only calls need the policy. What waits can be listed, refused and abandoned while it can't be read.
    const ref = await this.ref(sessionId).catch((error: unknown) => {
      if (personality === undefined) throw error;
      return sessionRef(sessionId, personality, identity);
    });
    return this.#open(ref, { history: false, claim });
  }

  /** @throws as `AgentLoop.decide` */
  async decide(sessionId: string, approval: QuestionRef, decision: CallDecision): Promise<void> {
    const { log, ledger } = await this.journal(sessionId);
    const { personality = this.options.personality } = log.turn ?? {};
    await this.approvals(sessionId, ledger).session.decide(approval, decision, personality);
  }

  async withdraw(sessionId: string, approval: QuestionRef): Promise<boolean> {
    const { ledger } = await this.journal(sessionId);
    return this.approvals(sessionId, ledger).session.withdraw(approval);
  }

  async grants(sessionId: string): Promise<SessionGrant[]> {
    const { tools, personality } = this.options;
    return this.approvals(sessionId).grants(await tools.personality(personality));
  }

  async revoke(sessionId: string, grantId: string): Promise<boolean> {
    const { tools, personality } = this.options;
    return this.approvals(sessionId).revoke(await tools.personality(personality), grantId);
  }

  approvals(
    sessionId: string,
    ledger = this.#ledgers.ofSession(sessionId, this.options.identity ?? {}),
  ): LoopApprovals {
    return new LoopApprovals({
      options: this.options,
      ledgers: this.#ledgers,
      ledger,
      sessionId,
      grantsOf: this.#place?.grantsOf,
    });
  }

  /** The session, with the same owner as in the calls of its turns. @throws `CONFIG_INVALID` */
  async ref(sessionId: string): Promise<SessionRef> {
    const { tools, personality, identity } = this.options;
    return sessionRef(sessionId, (await tools.personality(personality)).id, identity);
  }

  /** @throws `TURN_INVALID` */
  assertNotRunning(sessionId: string): void {
    if (!this.isRunning(sessionId)) return;
    throw new EthosError('TURN_INVALID', 'a turn of the session runs; wait for its end');
  }

  /** Ends what runs in a session, and waits for its end. Its turn stays unfinished. */
  async endSession(sessionId: string): Promise<void> {
    await this.#leave([sessionId]);
    await this.#subAgents.endSession(sessionId);
    await this.options.tools.endSession?.(sessionId);
  }

  /** Ends everything that runs, and waits for its end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#leave([...this.#running.keys()]);
    await this.#subAgents.close();
  }

  /** @throws `TURN_INVALID` */
  #assertCanRun(sessionId: string): void {
    if (this.#isClosed)
      throw new EthosError('TURN_INVALID', 'the agent was closed; create another one');
    if (typeof sessionId !== 'string') {
      throw new EthosError('TURN_INVALID', 'the turn has no sessionId; give { sessionId, prompt }');
    }
    if (isLedgerSession(sessionId)) {
      throw new EthosError(
        'TURN_INVALID',
        `the session id ${JSON.stringify(sessionId)} is reserved for the records that protect sessions; give another`,
      );
    }
    if (isTaskJournal(sessionId)) {
      throw new EthosError(
        'TURN_INVALID',
        `the session id ${JSON.stringify(sessionId)} is reserved for the records of background tasks; give another`,
      );
    }
    this.assertNotRunning(sessionId);
  }

  async #leave(sessionIds: readonly string[]): Promise<void> {
    const running = sessionIds.flatMap((id) => this.#running.get(id) ?? []);
    for (const each of running) leave(each);
    await Promise.all(running.map(({ ended }) => ended));
  }

  async *#events(
    asked: TurnInput | ResumeInput,
    begin: Begin,
    { running, release }: RunningParts,
  ): AsyncGenerator<AgentEvent, void, undefined> {
    assertInput(asked);
    const { sessionId, abortSignal, claim: given, ...input } = asked;
    this.#assertCanRun(sessionId);
    const { controller } = running;
    const claim: JournalClaim | undefined = given ?? this.#place?.claim;
    const { graceMs } = this.#limits;
    this.#running.set(sessionId, running);
    const end = () => {
      if (this.#running.get(sessionId) === running) this.#running.delete(sessionId);
      release();
    };
    try {
      const givenUp = new AbortController();
      const opening = this.#begin(sessionId, begin, {
        signal: controller.signal,
        givenUp: givenUp.signal,
        claim,
      });
      const begun = await withGrace(
        withGrace(opening, abortSignal, graceMs),
        controller.signal,
        graceMs,
      ).catch((error: unknown) => {
        givenUp.abort(error);
        if (running.isLeft) return undefined;
        throw error;
      });
      if (begun === undefined || running.isLeft) return;
      if (begun.done !== undefined) yield begun.done;
      const { journal, isResumed } = begun;
      if (journal === undefined) return;
      const logged = unfinished(journal.log);
      const { personalityId: personality } = journal.ref;
      const events = new EventQueue();
      const turn = new Turn(
        {
          // The personality from the start of the turn: a later switch to another one has no effect
          // on it.
          options: { ...this.options, ...(personality !== undefined && { personality }) },
          limits: this.#limits,
          retries: this.#retries,
          context: this.#context,
          search: this.#search,
          sessionId,
          attachments: ('attachments' in input && input.attachments) || logged.attachments,
          journal,
          events,
          isResumed,
          abortSignal,
          controller,
          now: this.#now,
          approvals: this.approvals(sessionId, journal.ledger),
          claim,
        },
        logged,
      );
      turn.delegation = this.#subAgents.forTurn(turn, journal.ref, () => {
        const now = this.#running.get(sessionId)?.turn;
        return now?.number === turn.number ? now : turn;
      });
      running.journal = journal;
      running.turn = turn;
      running.events = events;
      const over = turn.run().finally(() => {
        if (journal.isOver) this.#logs.keep(sessionId, journal.log);
        end();
      });
      try {
        for (;;) {
          const event = await events.next();
          if (event === undefined) return;
          // Awaited before the reader learns of the end, since it may begin the next turn at once.
          if (event.type === 'done') await over;
          yield event;
          if (event.type === 'done') return;
        }
      } finally {
        leave(running);
        await over;
      }
    } finally {
      end();
    }
  }

  /** @param givenUp fires when nobody waits for the turn any more; another one may have begun */
  async #begin(
    sessionId: string,
    begin: Begin,
    {
      signal,
      givenUp,
      claim,
    }: { signal: AbortSignal; givenUp: AbortSignal; claim: JournalClaim | undefined },
  ): Promise<{ journal?: Journal; isResumed: boolean; done?: AgentEvent }> {
    const ref = await this.ref(sessionId);
    const journal = await this.#open(ref, { history: true, signal, claim });
    const record = begin(journal.log, journal.ref);
    if ('type' in record) return { done: record, isResumed: true };
    await journal.refreshSources();
    givenUp.throwIfAborted();
    await journal.append(record);
    const { log, ledger } = journal;
    await this.approvals(sessionId, ledger)
      .questions(log.turn?.turn ?? 0)
      .settleAllBut(log.openCalls());
    return { journal, isResumed: record.kind === 'resumed' };
  }

  async #open(
    ref: SessionRef,
    {
      history,
      signal,
      claim,
    }: { history: boolean; signal?: AbortSignal; claim?: JournalClaim | undefined },
  ): Promise<Journal> {
    const { sessions, identity = {} } = this.options;
    const info = await sessions.get(ref.id);
    if (info !== null && !isSameOwner(info, ref)) {
      throw new EthosError(
        'SESSION_OWNER_MISMATCH',
        'the session belongs to another owner; give the session another id',
      );
    }
    const log = await (history
      ? this.#logs.read(sessions, ref.id)
      : readLog(sessions, ref.id, { history }));
    const ledger = this.#ledgers.ofSession(ref.id, identity);
    return new Journal(sessions, ref, {
      log,
      ledger,
      signal,
      graceMs: this.#limits.graceMs,
      claim,
    });
  }
}
