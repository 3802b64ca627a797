import { type CallFacts, CallGuard, showImages, type TurnHost } from '@ethosagent/core';
import { callListener } from '@ethosagent/policy';
import {
  EthosError,
  type PersonalityConfig,
  type ToolCall,
  type ToolCallResult,
  type ToolProgressEvent,
  type ToolResult,
} from '@ethosagent/types';
import type { EventQueue } from './event-queue.js';
import { imagePlan } from './images.js';
import type { AgentRecord } from './journal/records.js';
import type { LoggedCall } from './journal/session-log.js';
import { mayRunAgain, runsUnder } from './run-again.js';
import { resultRecord } from './turn-calls.js';
import { TurnInnerCalls, type TurnInnerCallsParts } from './turn-inner-calls.js';
import type { TurnQuestions } from './turn-questions.js';
import { untilAborted, withGrace } from './with-grace.js';

export interface TurnBatchParts extends TurnInnerCallsParts {
  events: EventQueue;
  questions: TurnQuestions;
  signal: AbortSignal;
  /** Receives the ids of calls that wait for a decision. */
  later: Set<string>;
  /** Whether calls that did not begin are left to the process that resumes the turn. */
  isLeft: () => boolean;
  onFailure: (error: unknown) => void;
}

/** The calls of a step that run together. Each is recorded before it runs and after it has run. */
export class TurnBatch {
  readonly #parts: TurnBatchParts;
  readonly #calls = new Map<string, LoggedCall>();
  /** The approved arguments of calls that do not run with those of the model. */
  readonly #edited = new Map<string, unknown>();
  readonly #startedAt = new Map<string, number>();
  /** Calls whose start was recorded, and that did not run after all. */
  readonly #notRun = new Set<string>();
  /** Calls for which `tool_start` was sent. */
  readonly #told = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #writing: Promise<void>[] = [];
  #personality: PersonalityConfig | undefined;
  readonly #inner: TurnInnerCalls;
  #isOver = false;

  constructor(parts: TurnBatchParts) {
    this.#parts = parts;
    this.#inner = new TurnInnerCalls(parts, {
      write: (record) => this.#write(record),
      onProgress: (event, toolCallId) => this.#onProgress(event, toolCallId),
    });
  }

  /** Resolves when all results are stored. @throws as `Journal.append` */
  async run(calls: readonly LoggedCall[]): Promise<void> {
    const { options, limits, journal, sessionId, attachments, turn, questions, signal } =
      this.#parts;
    const personality = await untilAborted(options.tools.personality(options.personality), signal);
    for (const logged of calls) this.#calls.set(logged.call.id, logged);
    const guard = this.#guard(personality);
    this.#personality = personality;
    const results = await options.tools.execute(
      calls.map((logged) => {
        const { id: toolCallId, name, input } = logged.call;
        const edited = questions.editedInput(logged);
        if (edited !== undefined) this.#edited.set(toolCallId, edited);
        return { toolCallId, name, args: structuredClone(edited ?? input) };
      }),
      {
        ...options.identity,
        personality: personality.id,
        sessionId,
        currentTurn: turn,
        messageCount: journal.log.messageCount,
        abortSignal: signal,
        resultBudgetChars: limits.resultBudgetChars,
        attachments,
        protections: 'none',
        host: {
          ...this.#host(guard),
          calls: this.#inner.of(personality),
          sessionStartedAt: journal.log.startedAt,
        },
      },
    );
    // A runtime answers some calls itself, without calling the host.
    for (const result of results) this.#onResult(result, { guard });
    for (const { call } of calls) {
      const result: ToolResult = {
        ok: false,
        code: 'execution_failed',
        error: 'the call gave no answer; it may have run, so check before you call it again',
      };
      this.#onResult({ toolCallId: call.id, name: call.name, result }, { guard });
    }
    await Promise.all(this.#writing);
    this.#isOver = true;
  }

  #guard(personality: PersonalityConfig): CallGuard {
    const { options, sources, turn, later, approvals, now } = this.#parts;
    const book = approvals.session.book(personality, {
      turn,
      sources,
      inputs: { get: (id) => this.#calls.get(id)?.call.input },
      // A call that nobody issued can't wait for a decision.
      over: { has: (id) => this.#isOver || this.#answered.has(id) || !this.#calls.has(id) },
    });
    return new CallGuard({
      personality,
      tool: (name) => options.tools.tool(name),
      isTainted: sources.length > 0,
      sources,
      approve: options.approve,
      grants: () => approvals.grants(personality),
      files: approvals.files,
      now,
      book: {
        ...book,
        ask: async (approval) => {
          later.add(approval.toolCallId);
          this.#waiting.add(approval.toolCallId);
          try {
            await book.ask(approval);
          } catch (error) {
            later.delete(approval.toolCallId);
            this.#waiting.delete(approval.toolCallId);
            throw error;
          }
        },
      },
    });
  }

  #host(guard: CallGuard): TurnHost {
    const { delegation, later, events, questions, claim, journal } = this.#parts;
    const { approve, ...asked } = guard.host();
    return {
      ...asked,
      ...(delegation !== undefined && { delegation }),
      ...(claim !== undefined && { assertOwned: () => claim.assertHeld() }),
      approve: async (request) => {
        // Nobody is asked about a call that is not stored.
        await journal.store();
        const decision = await approve(request);
        const asked = guard.waiting.get(request.toolCallId);
        const { approval = asked } = questions.find(request.toolCallId) ?? {};
        if (asked !== undefined && approval !== undefined) {
          later.add(request.toolCallId);
          this.#waiting.add(request.toolCallId);
          if (!guard.edited.has(request.toolCallId)) {
            await events.push({ type: 'approval', approval: structuredClone(approval) });
          }
        }
        return decision;
      },
      beforeRun: (call) => this.#beforeRun(call, guard.answered.get(call.toolCallId)),
      onProgress: (event, toolCallId) => this.#onProgress(event, toolCallId),
      onResult: (result, facts) => this.#onResult(result, { guard, reads: facts?.reads }),
    };
  }

  /** @param answered the question whose answer lets the call run */
  async #beforeRun(call: ToolCall, answered: string | undefined): Promise<void> {
    const { toolCallId, name } = call;
    const { turn, questions, limits, signal, now, journal, options, claim } = this.#parts;
    const logged = this.#calls.get(toolCallId);
    const tool = options.tools.tool(name);
    const personality = this.#personality;
    const isBlocked =
      logged?.started === true &&
      (personality === undefined || !mayRunAgain(logged, tool, personality));
    if (logged === undefined || isBlocked || this.#startedAt.has(toolCallId)) {
      throw new EthosError(
        'TURN_INVALID',
        `${name} did not run again: an earlier attempt of this call may have run; check what it did`,
      );
    }
    signal.throwIfAborted();
    const isAgain = logged.started;
    this.#startedAt.set(toolCallId, now());
    const edited = this.#edited.get(toolCallId);
    const under = personality && runsUnder(tool, personality);
    // Comes first: if another process has taken the session, this throws, and the approval is not
    // used up.
    await this.#write({
      kind: 'started',
      turn,
      calls: [toolCallId],
      ...(edited !== undefined && { edited }),
      ...(under !== undefined && { under }),
    });
    try {
      await withGrace(questions.take(call, answered), signal, limits.graceMs);
    } catch (error) {
      // The call does not run, so its answer does not come from its tool.
      this.#startedAt.delete(toolCallId);
      if (!isAgain) this.#notRun.add(toolCallId);
      throw error;
    }
    signal.throwIfAborted();
    journal.count({ calls: 1, costUsd: 0 });
    await this.#tellStart(logged);
    // Checked right before it runs: another process may have taken the session while the start was
    // stored.
    claim?.assertHeld();
  }

  /** What the model is told about a call that was refused right before it would have run. */
  #refusalOf(logged: LoggedCall): ToolResult | undefined {
    const isUnknown = logged.started && !this.#notRun.has(logged.call.id);
    return isUnknown
      ? undefined
      : this.#parts.questions.answerAtOnce({ ...logged, started: false });
  }

  #onResult(
    answer: ToolCallResult,
    { guard, reads }: { guard: CallGuard; reads?: CallFacts['reads'] | undefined },
  ): void {
    const { toolCallId, result: given } = answer;
    const { options, isLeft, turn, journal, questions, signal } = this.#parts;
    const logged = this.#calls.get(toolCallId);
    if (logged === undefined || this.#answered.has(toolCallId)) return;
    this.#answered.add(toolCallId);
    const isStarted = this.#startedAt.has(toolCallId);
    if (this.#waiting.has(toolCallId)) return;
    if (!isStarted && (isLeft() || journal.failure !== undefined)) return;
    const result = (isStarted ? undefined : this.#refusalOf(logged)) ?? given;
    const cost = isStarted && result.ok ? Number(result.cost_usd) : 0;
    if (cost > 0) journal.count({ calls: 0, costUsd: cost });
    // If the call did not run, the framework answered it.
    const isAnswer = isStarted && options.tools.tool(logged.call.name)?.returnDirect === true;
    const facts = { ran: isStarted, ...(reads !== undefined && { reads }) };
    const written = guard
      .judge({ ...answer, result }, facts)
      .then(async (judged) => {
        const shown = await showImages(result, { ...imagePlan(options), signal });
        await this.#write(resultRecord(turn, logged, { result, ...judged, ...shown, isAnswer }));
      })
      .then(() => questions.settle([logged]))
      .then(() => this.#tellResult(logged, result));
    // Awaited at the end of the batch.
    written.catch(() => {});
    this.#writing.push(written);
  }

  #tellStart({ call }: LoggedCall): Promise<void> {
    const { id: toolCallId, name: toolName, input } = call;
    if (this.#told.has(toolCallId)) return Promise.resolve();
    this.#told.add(toolCallId);
    // A copy, so that a reader can't change the call.
    const args = structuredClone(input);
    return this.#parts.events.push({ type: 'tool_start', toolCallId, toolName, args });
  }

  async #tellResult(logged: LoggedCall, result: ToolResult): Promise<void> {
    const { events, now } = this.#parts;
    const { id: toolCallId, name: toolName } = logged.call;
    const startedAt = this.#startedAt.get(toolCallId);
    await this.#tellStart(logged);
    const ms = startedAt === undefined ? 0 : Math.max(0, now() - startedAt);
    await events.push({ type: 'tool_end', toolCallId, toolName, result, ms });
  }

  #onProgress(event: ToolProgressEvent, toolCallId: string): void {
    const { options, events } = this.#parts;
    const { toolName, message, percent, audience } = event;
    if (this.#isOver) return;
    if (audience !== 'user' && audience !== 'dashboard') {
      callListener(() => options.onInternal?.(event));
      return;
    }
    void events.push({
      type: 'tool_progress',
      toolCallId,
      toolName,
      message,
      ...(percent !== undefined && { percent }),
      audience,
    });
  }

  async #write(record: AgentRecord): Promise<void> {
    try {
      await this.#parts.journal.append(record);
    } catch (error) {
      // The turn must not go on if its records can't be written.
      if (this.#parts.journal.failure !== undefined) this.#parts.onFailure(error);
      throw error;
    }
  }
}
