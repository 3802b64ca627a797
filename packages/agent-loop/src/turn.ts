import { showImages, type UntrustedSource } from '@ethosagent/core';
import {
  type DelegationProvider,
  EthosError,
  errorCodeOf,
  type TurnAttachment,
} from '@ethosagent/types';
import type { AgentEvent, AgentLoopOptions, AgentUsage } from './api.js';
import { answerReads } from './context/answer-reads.js';
import type { ContextPlan } from './context/context-plan.js';
import { ContextFull } from './context/fit-context.js';
import type { Begun } from './delegation/child-turn.js';
import type { EventQueue } from './event-queue.js';
import { imagePlan } from './images.js';
import type { Journal, JournalClaim } from './journal/journal.js';
import type { LoggedCall, LoggedTurn, SessionLog } from './journal/session-log.js';
import type { LoopApprovals } from './loop-approvals.js';
import type { RetryPlan, TurnLimits } from './options.js';
import {
  ABORTED,
  answered,
  callsText,
  causeOfEnd,
  endRecord,
  FAILED,
  type Outcome,
  overBudget,
  overCalls,
  overSteps,
  overTime,
  PAUSED,
} from './outcome.js';
import { type LoopAnswer, recordAnswers } from './record-answers.js';
import { mayRunAgain } from './run-again.js';
import { answerFinds } from './tool-search/find-tools.js';
import type { ToolSearchPlan } from './tool-search/tool-search-plan.js';
import { TurnBatch } from './turn-batch.js';
import { interrupted, notRun, resultRecord } from './turn-calls.js';
import type { TurnQuestions } from './turn-questions.js';
import { TurnStep } from './turn-step.js';
import { addUsage, NO_USAGE } from './usage.js';
import { untilAborted, withGrace } from './with-grace.js';

/** The parts of a turn. */
export interface TurnParts {
  options: AgentLoopOptions;
  limits: TurnLimits;
  retries: RetryPlan;
  /** Absent if the whole history is sent. */
  context: ContextPlan | undefined;
  /** Absent if all tools are offered. */
  search: ToolSearchPlan | undefined;
  sessionId: string;
  attachments: readonly TurnAttachment[];
  journal: Journal;
  events: EventQueue;
  isResumed: boolean;
  abortSignal: AbortSignal | undefined;
  /** Aborts what the turn waits for. */
  controller: AbortController;
  now: () => number;
  approvals: LoopApprovals;
  /** The claim on the session; absent if nobody has to hold it. */
  claim: JournalClaim | undefined;
}

/** Why a turn stops before it is done. `left`: nobody reads its events any more. */
type Stop = 'aborted' | 'max_time' | 'left';

/**
 * One turn of a session. Runs it from its first record, or from where it was interrupted, to its
 * end.
 */
export class Turn {
  readonly #parts: TurnParts;
  readonly #log: SessionLog;
  readonly #turn: LoggedTurn;
  readonly #questions: TurnQuestions;
  readonly #controller: AbortController;
  /** Calls that this turn has asked about, and that wait for `decide`. */
  readonly #later = new Set<string>();
  /** Runs the sub-agents of its calls. */
  delegation: DelegationProvider | undefined;
  #stop: Stop | undefined;
  /** How many sub-agents were begun, including those from before a resumption. */
  readonly begun: Begun;
  /** What sub-agents used, including before a resumption. */
  #delegated: AgentUsage;
  #endsAt = 0;
  /** Calls for readers that are being recorded. */
  #beginning = 0;

  constructor(parts: TurnParts, turn: LoggedTurn) {
    this.#parts = parts;
    this.#controller = parts.controller;
    this.#log = parts.journal.log;
    this.#turn = turn;
    this.#questions = parts.approvals.questions(turn.turn);
    this.#delegated = turn.delegated.usage;
    this.begun = {
      count: turn.delegated.begun,
      note: () => this.#note({ begun: 1, usage: NO_USAGE }),
    };
  }

  get attachments(): readonly TurnAttachment[] {
    return this.#parts.attachments;
  }

  get claim(): JournalClaim | undefined {
    return this.#parts.claim;
  }

  get number(): number {
    return this.#turn.turn;
  }

  /** The untrusted content that the session has read. */
  get sources(): readonly UntrustedSource[] {
    return this.#parts.journal.sources;
  }

  /** What the turn has used, including its sub-agents. */
  get usage(): AgentUsage {
    return addUsage(this.#turn.usage, this.#delegated);
  }

  /** Returns what the turn may still use. */
  remaining(): { tokens: number; costUsd: number; ms: number } {
    const { limits, now } = this.#parts;
    const { inputTokens, outputTokens, costUsd } = this.usage;
    return {
      tokens: Math.max(0, limits.maxTokens - inputTokens - outputTokens),
      costUsd: Math.max(0, limits.maxCostUsd - costUsd),
      ms: Math.max(0, this.#endsAt - now()),
    };
  }

  /** Counts what a sub-agent used, or an answer that is in no record. Resolves when it is stored. */
  async charge(usage: AgentUsage): Promise<void> {
    this.#delegated = addUsage(this.#delegated, usage);
    // If the journal fails, the next record of the turn itself reports it.
    await this.#note({ begun: 0, usage }).catch(() => {});
  }

  /**
   * Counts a call that is about to run for a reader alone. The claim is checked last.
   *
   * @throws `TURN_LIMIT` when the turn has made all its calls
   * @throws as `Journal.append`
   */
  async beginRead(): Promise<void> {
    const { limits, journal } = this.#parts;
    if (this.#turn.calls + this.#beginning >= limits.maxCalls) {
      throw new EthosError('TURN_LIMIT', callsText(limits.maxCalls));
    }
    this.#beginning += 1;
    try {
      await this.#note({ begun: 0, calls: 1, usage: NO_USAGE });
    } finally {
      this.#beginning -= 1;
    }
    journal.count({ calls: 1, costUsd: 0 });
    this.claim?.assertHeld();
  }

  /** Counts what a call for a reader cost. */
  paid(costUsd: number): void {
    this.#parts.journal.count({ calls: 0, costUsd });
    void this.charge({ ...NO_USAGE, costUsd });
  }

  /** Records what sub-agents and readers did. Those in the background may outlive the turn. */
  async #note(delegated: { begun: number; calls?: number; usage: AgentUsage }): Promise<void> {
    if (this.#turn.end !== undefined) return;
    await this.#parts.journal.append({ kind: 'delegated', turn: this.#turn.turn, ...delegated });
  }

  /** Ends what runs, for a reason. The turn stays unfinished. */
  leave(reason: unknown): void {
    this.#halt('left', reason);
  }

  /** Runs to the end. Never rejects. */
  async run(): Promise<void> {
    const { abortSignal, limits, now } = this.#parts;
    this.#endsAt = now() + limits.maxMs;
    const onAbort = () => this.#halt('aborted', abortSignal?.reason);
    if (abortSignal?.aborted) onAbort();
    abortSignal?.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => {
      this.#halt('max_time', new DOMException('the time of the turn is up', 'TimeoutError'));
    }, limits.maxMs);
    try {
      await this.#run();
    } finally {
      clearTimeout(timer);
      abortSignal?.removeEventListener('abort', onAbort);
    }
  }

  #halt(stop: Stop, reason: unknown): void {
    this.#stop ??= stop;
    this.#controller.abort(reason);
    // A reader that stops reading must not keep the turn from ending.
    this.#parts.events.release();
  }

  async #run(): Promise<void> {
    const { sessionId, isResumed, journal } = this.#parts;
    let outcome: Outcome;
    try {
      await this.#tell({ type: 'start', sessionId, turn: this.#turn.turn, resumed: isResumed });
      outcome = await this.#outcome().finally(() => journal.store());
      await this.#close(outcome);
    } catch (error) {
      const failure = ethosError(error);
      await this.#tell({ type: 'error', error: failure });
      outcome = { ...FAILED, error: failure };
    }
    await this.#tell(this.#done(outcome));
  }

  async #outcome(): Promise<Outcome> {
    try {
      return await this.#steps();
    } catch (error) {
      const { journal, limits } = this.#parts;
      if (journal.failure !== undefined) throw journal.failure;
      if (this.#stop === 'aborted') return ABORTED;
      if (this.#stop === 'max_time') return overTime(limits);
      if (error instanceof ContextFull) return error.outcome;
      throw error;
    }
  }

  async #steps(): Promise<Outcome> {
    const { limits } = this.#parts;
    for (;;) {
      this.#controller.signal.throwIfAborted();
      const { step, steps } = this.#turn;
      if (step !== undefined && step.calls.length === 0) return answered(step.record);
      const direct = this.#log.directAnswer();
      if (direct !== undefined) {
        await this.#tell({ type: 'text', text: direct });
        return { end: 'answered' };
      }
      const over = overBudget(this.usage, limits);
      if (over !== undefined) return over;
      if (this.#log.openCalls().length > 0) {
        const outcome = await this.#answerCalls();
        if (outcome !== undefined) return outcome;
      } else if (steps >= limits.maxSteps) {
        return overSteps(limits);
      } else {
        await this.#step();
      }
    }
  }

  async #step(): Promise<void> {
    const { options, journal, retries, context, search, now, limits } = this.#parts;
    const step = new TurnStep({
      options,
      journal,
      retries,
      context,
      search,
      now,
      turn: this.#turn.turn,
      step: this.#turn.steps + 1,
      signal: this.#controller.signal,
      isLeft: () => this.#stop === 'left',
      remainingMs: () => (overBudget(this.usage, limits) === undefined ? this.remaining().ms : 0),
      charge: (usage) => this.charge(usage),
      tell: (event) => this.#tell(event),
    });
    const usage = await step.run();
    await this.#tell({ type: 'usage', step: usage, turn: this.usage });
  }

  /** Answers the open calls of the last step, as far as that is possible now. */
  async #answerCalls(): Promise<Outcome | undefined> {
    const { options, limits, journal, now } = this.#parts;
    await untilAborted(journal.refreshSources(), this.#controller.signal);
    const before = this.#progress();
    let over: Outcome | undefined;
    const { tools, personality: id } = options;
    const isAgain = this.#log.openCalls().some(({ started }) => started);
    const under = isAgain ? await tools.personality(id) : undefined;
    const atOnce = this.#log.openCalls().flatMap((logged) => {
      if (under !== undefined && mayRunAgain(logged, tools.tool(logged.call.name), under))
        return [];
      const limit = overCalls(logged, limits);
      over ??= limit;
      const result =
        this.#questions.answerAtOnce(logged) ??
        (limit && notRun(limit.message ?? limit.end, 'TURN_LIMIT'));
      if (result === undefined) return [];
      return [{ logged, result, approval: this.#questions.refusalOf(logged, now()) }];
    });
    await this.#answer(atOnce);
    await this.#answer(await this.#reads());
    await this.#answer(await this.#finds());
    const isUndecided = (logged: LoggedCall) => this.#questions.isUndecided(logged);
    const canAsk = (id: string) => options.approve !== undefined && !this.#later.has(id);
    await this.#runCalls(
      this.#log.openCalls().filter((logged) => !isUndecided(logged) || canAsk(logged.call.id)),
    );
    if (over !== undefined) return over;
    this.#controller.signal.throwIfAborted();
    const open = this.#log.openCalls();
    if (open.length > 0 && open.every(isUndecided)) return PAUSED;
    // The next round would be the same as this one, and would repeat without end.
    if (this.#progress() === before) {
      throw new EthosError('TURN_INVALID', 'the open calls of the turn neither run nor wait');
    }
    return undefined;
  }

  /** The answers of `read_result` for results that were cleared. */
  #reads(): ReturnType<typeof answerReads> {
    const { options, limits, context, sessionId } = this.#parts;
    const pageChars = Math.min(limits.resultBudgetChars, context?.pageChars ?? 0);
    const { sessions } = options;
    const reading = answerReads(this.#log, { sessions, sessionId, pageChars });
    return untilAborted(reading, this.#controller.signal);
  }

  /** The answers of `find_tools`. */
  #finds(): ReturnType<typeof answerFinds> {
    const { options, search } = this.#parts;
    const finding = answerFinds(this.#log, search, () =>
      options.tools.definitions(options.personality),
    );
    return untilAborted(finding, this.#controller.signal);
  }

  async #runCalls(calls: readonly LoggedCall[]): Promise<void> {
    if (calls.length === 0) return;
    const { journal } = this.#parts;
    const batch = new TurnBatch({
      ...this.#parts,
      turn: this.#turn.turn,
      sources: journal.sourcesOf(this.#turn.step),
      signal: this.#controller.signal,
      delegation: this.delegation,
      questions: this.#questions,
      later: this.#later,
      isLeft: () => this.#stop === 'left',
      whyOver: () => overBudget(this.usage, this.#parts.limits)?.message,
      onFailure: (error) => this.#controller.abort(error),
    });
    await batch.run(calls);
  }

  async #answer(given: readonly LoopAnswer[]): Promise<void> {
    const { turn } = this.#turn;
    const { options, sessionId } = this.#parts;
    const answers = await recordAnswers(given, {
      options,
      sessionId,
      currentTurn: turn,
      messageCount: this.#log.messageCount,
    });
    const plain = { isMarked: false, isUntrusted: false };
    const records = answers.map(async ({ logged, result, found }) =>
      resultRecord(turn, logged, {
        result,
        ...plain,
        ...(await showImages(result, imagePlan(options))),
        ...(found !== undefined && { found }),
      }),
    );
    await this.#parts.journal.append(...(await Promise.all(records)));
    await this.#settle(answers.map(({ logged }) => logged));
    for (const { logged, result } of answers) {
      const { id: toolCallId, name: toolName, input } = logged.call;
      const args = structuredClone(input);
      if (!logged.started) await this.#tell({ type: 'tool_start', toolCallId, toolName, args });
      await this.#tell({ type: 'tool_end', toolCallId, toolName, result, ms: 0 });
    }
  }

  /** Ends the turn with a history in which every call has an answer. */
  async #close(outcome: Outcome): Promise<void> {
    const record = endRecord(this.#turn.turn, outcome);
    if (record === undefined || this.#turn.end !== undefined) return;
    const why =
      outcome.end === 'aborted'
        ? 'the turn was aborted; call it again only if it is still wanted'
        : (outcome.message ?? outcome.end);
    const cause = causeOfEnd(outcome.end);
    // Comes first: once the turn has ended, nobody may decide on its questions.
    await this.#settle(this.#log.openCalls());
    await this.#answer(
      this.#log.openCalls().map((logged) => ({
        logged,
        result: logged.started ? interrupted(logged) : notRun(why, cause),
      })),
    );
    await this.#parts.journal.append(record);
  }

  #settle(calls: readonly LoggedCall[]): Promise<void> {
    const { signal } = this.#controller;
    return withGrace(this.#questions.settle(calls), signal, this.#parts.limits.graceMs);
  }

  /** The same text as before, if no open call was answered, asked about, decided on or started. */
  #progress(): string {
    return JSON.stringify(
      this.#log.openCalls().map(({ call, started }) => {
        const { approval } = this.#questions.find(call.id) ?? {};
        return [call.id, started, approval?.question, approval?.decision?.approved];
      }),
    );
  }

  #done({ end, message, error }: Outcome): AgentEvent {
    const { turn, steps, calls, text } = this.#turn;
    const waiting = this.#questions.of(this.#log.openCalls());
    return {
      type: 'done',
      end,
      text,
      turn,
      steps,
      calls,
      usage: this.usage,
      ...(message !== undefined && { message }),
      ...(error !== undefined && { error }),
      approvals: end === 'paused' ? structuredClone(waiting) : [],
    };
  }

  #tell(event: AgentEvent): Promise<void> {
    return this.#parts.events.push(event);
  }
}

function ethosError(error: unknown): EthosError {
  if (error instanceof EthosError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new EthosError(errorCodeOf(error) ?? 'TURN_INVALID', `the turn broke off: ${detail}`, {
    cause: error,
  });
}
